"""Judge and draw under the states that a learner may have set before the first check.

    python tests/tools/states.py                      # every state, each in a process of its own
    python tests/tools/states.py "default float16"    # some of them

For each state: are the printed solutions right, are some wrong answers told what they are told in
a plain process, do pictures and their texts stay the same to the byte, and is everything that was
set still as it was? Exit code 1 when one of these is not so. Runs once a week.
"""

from __future__ import annotations

import builtins
import contextlib
import decimal
import gc
import hashlib
import io
import json
import locale
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
from lessons import answers, run_cells, solutions
from records import RECORDS

STATES: dict[str, Callable[[contextlib.ExitStack], object]] = {"plain": lambda stack: None}
ASKED = ("right", "told", "pictures", "kept")


def state(*names: str) -> Callable:
    """Register what sets a state; it may enter contexts that end with the process only."""

    def add(set_it: Callable) -> Callable:
        for name in names:
            STATES[name] = (lambda stack, name=name: set_it(stack, name)) if names[1:] else set_it
        return set_it

    return add


@state("default float64", "default float16", "default bfloat16")
def default_dtype(stack, name):
    torch.set_default_dtype(getattr(torch, name.split()[1]))


@state("default tensor type")
def default_tensor_type(stack):
    torch.set_default_tensor_type(torch.DoubleTensor)


@state("default device meta")
def default_device(stack):
    torch.set_default_device("meta")


@state("within device meta", "no grad", "inference mode", "autocast", "anomaly detection")
def within(stack, name):
    contexts = {
        "within device meta": lambda: torch.device("meta"),
        "no grad": torch.no_grad,
        "inference mode": torch.inference_mode,
        "autocast": lambda: torch.autocast("cpu"),
        "anomaly detection": torch.autograd.detect_anomaly,
    }
    stack.enter_context(contexts[name]())


@state("one thread", "two threads")
def threads(stack, name):
    torch.set_num_threads(1 + (name == "two threads"))


@state("deterministic", "deterministic, warnings")
def deterministic(stack, name):
    torch.use_deterministic_algorithms(True, warn_only="warnings" in name)
    torch.utils.deterministic.fill_uninitialized_memory = True


@state("arithmetic")
def arithmetic(stack):
    torch.set_flush_denormal(True)
    torch.set_float32_matmul_precision("medium")
    torch.backends.mkldnn.set_flags(False)
    np.seterr(all="raise")
    decimal.getcontext().prec = 3


@state("attention by formula only", "attention without formula")
def attention_kernels(stack, name):
    by_formula = name == "attention by formula only"
    torch.backends.cuda.enable_flash_sdp(not by_formula)
    torch.backends.cuda.enable_mem_efficient_sdp(not by_formula)
    torch.backends.cuda.enable_math_sdp(by_formula)


@state("function mode")
def function_mode(stack):
    from torch.overrides import TorchFunctionMode

    class Counts(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    stack.enter_context(Counts())


@state("dispatch mode")
def dispatch_mode(stack):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counts(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    stack.enter_context(Counts())
    torch.ones(1)  # with the first operation in a mode, torch loads its compiler


@state("module hooks")
def module_hooks(stack):
    register = torch.nn.modules.module
    register.register_module_forward_hook(lambda module, args, out: None)
    register.register_module_forward_pre_hook(lambda module, args: None)


@state("weights start at zero")
def zero_weights(stack):
    torch.nn.Linear.reset_parameters = lambda self: torch.nn.init.zeros_(self.weight)
    torch.nn.Embedding.reset_parameters = lambda self: torch.nn.init.zeros_(self.weight)


@state("tensors kept for backward are packed")
def packed(stack):
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy)
    stack.enter_context(hooks)


@state("warnings are errors", "warnings are shown")
def warning_filters(stack, name):
    warnings.simplefilter("error" if "errors" in name else "always")


@state("print options")
def print_options(stack):
    torch.set_printoptions(precision=1, sci_mode=True, threshold=2, linewidth=20)
    np.set_printoptions(precision=1, threshold=2)


@state("low recursion limit")
def recursion_limit(stack):
    sys.setrecursionlimit(150)


@state("seeds")
def seeds(stack):
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(1)


@state("matplotlib dark", "matplotlib upside down", "matplotlib TeX")
def matplotlib_settings(stack, name):
    import matplotlib.pyplot as plt

    if name == "matplotlib dark":
        plt.style.use("dark_background")
    elif name == "matplotlib TeX":
        plt.rcParams |= {"text.usetex": True, "axes.formatter.use_locale": True}
    else:
        settings = {"image.origin": "lower", "image.interpolation": "bicubic", "font.size": 30}
        plt.rcParams |= settings | {"savefig.dpi": 40, "savefig.bbox": "tight"}


@state("other locale")
def other_locale(stack):
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8", ""):
        with contextlib.suppress(locale.Error):
            return locale.setlocale(locale.LC_ALL, name)


@state("output closed", "no output", "output kept")
def output(stack, name):
    sys.stdout = None if name == "no output" else io.StringIO()
    if name == "output closed":
        sys.stdout.close()


@state("print replaced")
def print_replaced(stack):
    builtins.print = lambda *args, **kwargs: sys.stdout.write(" ".join(args) + "\n")


@state("no collector", "traced", "profiled")
def interpreter(stack, name):
    if name == "no collector":
        gc.disable()
    else:
        (sys.settrace if name == "traced" else sys.setprofile)(lambda frame, event, arg: None)


@state("another folder")
def another_folder(stack):
    os.chdir(os.path.realpath(os.sep))


@state("hash seed 0", "hash seed 1", "python -O")
def interpreter_option(stack, name):
    """Set when the process is started."""


ENVIRONMENTS = {
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "python -O": {"PYTHONOPTIMIZE": "1"},
}


# ------------------------------------------------------------------ within a process
def everything() -> dict[str, object]:
    """What a check must leave as it was."""
    import matplotlib

    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "threads": torch.get_num_threads(),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "autocast": torch.is_autocast_enabled("cpu"),
        "anomaly": torch.is_anomaly_enabled(),
        "deterministic": torch.get_deterministic_debug_mode(),
        "precision": (torch.get_float32_matmul_precision(), torch.backends.mkldnn.enabled),
        "denormal": float(np.float32(1e-38) / np.float32(100)),
        "attention": torch.backends.cuda.math_sdp_enabled(),
        "torch's print options": repr(torch._tensor_str.PRINT_OPTS),
        "function modes": torch._C._len_torch_function_stack(),
        "hooks": len(torch.nn.modules.module._global_forward_hooks),
        "random": (torch.get_rng_state().tolist(), random.getstate(), repr(np.random.get_state())),
        "numpy": (np.geterr(), np.get_printoptions()),
        "decimal": decimal.getcontext().prec,
        "warnings": list(warnings.filters),
        "output": (id(sys.stdout), id(sys.stderr), id(builtins.print)),
        "interpreter": (gc.isenabled(), sys.getrecursionlimit(), sys.gettrace(), sys.getprofile()),
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "matplotlib": dict(matplotlib.rcParams),
    }


def right_answers(number: int) -> dict[str, object]:
    """What the printed solutions of a lesson hand in."""
    before, found = run_cells(number, *RECORDS[number].before_solutions), {}
    for name, code in solutions(number).items():
        names = dict(before)
        exec(code, names)
        found[name] = names[answers(number)[name]]
    return found


def wrong_answers(right: dict[str, object]) -> dict[str, object]:
    """For some exercises an answer of which much is right."""
    inputs, attention = right["denoiser-inputs"], right["causal-attention"]
    Wq, *others = right["previous-word-head"]
    forward = attention.forward

    class NoTimes(inputs):
        def forward(self, x_t, t):
            return super().forward(x_t, 0 * t)

    class NoScale(attention):
        def forward(self, x):
            self.W_query.weight.data *= self.W_query.out_features**0.5
            return forward(self, x)

    return {
        "denoiser-inputs": NoTimes,
        "three-terms": lambda parts, x_t, t: right["three-terms"](parts, x_t.flip(1), t),
        "noise-axis": lambda model, x_t, t: bool(model(x_t, t)[0, 0, 0] > 9),
        "sinusoidal": lambda *sizes: right["sinusoidal"](*sizes).flip(1),
        "causal-attention": NoScale,
        "peek-test": lambda model, x: not bool((model(x)[:, 0] == model(x[:, :1])[:, 0]).all()),
        "previous-word-head": (Wq / 8, *others),
        "layer": lambda X, heads: X + right["layer"](X, heads),
        "parity": (right["parity"][0], -right["parity"][1], right["parity"][2]),
        "patch": {**right["patch"], "value": 0.25},
    }


def pictures() -> list[str]:
    """A digest of each kind of picture, and its alt text and text twin."""
    import IPython.display

    from helpers import figures

    shown = []
    IPython.display.display = lambda data, metadata, raw: shown.append((data, metadata))
    values = torch.linspace(-1, 1, 12, dtype=torch.float32, device="cpu").reshape(3, 4)
    blocked = {"m": values > 0.9}
    names = {"title": "line", "x_axis": "x", "y_axis": "y"}
    with contextlib.redirect_stdout(io.StringIO()) as text:
        try:
            figures.heat_map({"m": values}, alt="m", rows="abc", columns="abcd", blocked=blocked)
            figures.stream_map(values, alt="s", words="abc", slots="wxyz", groups={"all": 4})
            figures.line_plot([0.0, 1.0], {"one": [0.0, 0.5]}, alt="l", **names)
        except Exception as error:
            return [repr(error)]
    shown.append(text.getvalue())
    return [hashlib.sha256(repr(one).encode()).hexdigest() for one in shown]


def run(name: str) -> dict:
    """What is told and drawn in a state, of answers made before it is set and, if they can be
    made then, after."""
    right = {k: v for number in RECORDS for k, v in right_answers(number).items()}
    for module in [m for m in sys.modules if m.partition(".")[0] == "helpers"]:
        del sys.modules[module]
    real = sys.stdout
    with contextlib.ExitStack() as stack:
        STATES[name](stack)
        at_first = everything()
        from helpers import judge

        told = {k: judge(k, v).message for k, v in wrong_answers(right).items()}
        verdicts = {k: judge(k, v) for k, v in right.items()}
        drawn = pictures()
        now = everything()
        changed = sorted(key for key in now if now[key] != at_first[key])
        sys.setrecursionlimit(1000)
        for number in RECORDS:
            with contextlib.suppress(Exception):
                again = right_answers(number)
                verdicts |= {f"{k}, made after": judge(k, v) for k, v in again.items()}
    sys.stdout = real
    sys.settrace(None)
    return {
        "right": {k: v.message for k, v in verdicts.items() if v.state != "right"},
        "told": told,
        "pictures": drawn,
        "kept": changed,
    }


# ------------------------------------------------------------------ the command
def in_a_process(name: str) -> dict:
    command = [sys.executable, __file__, "--here", name]
    environment = {**os.environ, **ENVIRONMENTS.get(name, {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        return {key: f"stops: {done.stderr.strip()[-300:]}" for key in ASKED}
    return json.loads(done.stdout.splitlines()[-1])


def main(names: list[str]) -> int:
    names = ["plain", *(name for name in names or STATES if name != "plain")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(names, pool.map(in_a_process, names), strict=True))
    plain, failed = found["plain"], 0
    print("state | solutions right | wrong told the same | pictures same | nothing changed")
    for name, one in found.items():
        wanted = {"right": {}, "told": plain["told"], "pictures": plain["pictures"], "kept": []}
        good = {key: one[key] == wanted[key] for key in ASKED}
        print(" | ".join([name, *("yes" if good[key] else "NO" for key in ASKED)]))
        for key in (key for key in ASKED if not good[key]):
            failed = 1
            differing = one[key]
            if key == "told" and isinstance(differing, dict):
                differing = {k: v for k, v in differing.items() if v != plain["told"].get(k)}
            print("   ", key, differing)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(run(sys.argv[2])))
    else:
        sys.exit(main(sys.argv[1:]))
