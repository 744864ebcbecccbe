"""stub"""
from helpers.exercises import Exercise
padding_mask = Exercise("padding-mask", "x", "y", attempt=lambda a: a(None))
masked_loss = Exercise("masked-loss", "x", "y", attempt=lambda a: a(None, None, None, None))
encoder_block = Exercise("encoder-block", "x", "y", attempt=lambda a: a(8, 2)(None, None))
unmask_step = Exercise("unmask-step", "x", "y", attempt=lambda a: a(*[None]*6))
