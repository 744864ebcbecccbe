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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])
from lessons import answers, record, run_cells, solutions

from helpers import LESSONS

ASKED = ("right", "told", "pictures", "kept")
# What sets each state; `enter` enters a context that ends with the process only.
STATES = {
    "plain": "",
    "default float64": "torch.set_default_dtype(torch.float64)",
    "default float16": "torch.set_default_dtype(torch.float16)",
    "default bfloat16": "torch.set_default_dtype(torch.bfloat16)",
    "default tensor type": "torch.set_default_tensor_type(torch.DoubleTensor)",
    "default device meta": "torch.set_default_device('meta')",
    "within device meta": "enter(torch.device('meta'))",
    "no grad": "enter(torch.no_grad())",
    "inference mode": "enter(torch.inference_mode())",
    "autocast": "enter(torch.autocast('cpu'))",
    "anomaly detection": "enter(torch.autograd.detect_anomaly())",
    "one thread": "torch.set_num_threads(1)",
    "two threads": "torch.set_num_threads(2)",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "deterministic, warnings": "torch.use_deterministic_algorithms(True, warn_only=True)",
    "denormals flushed": "torch.set_flush_denormal(True)",
    "medium precision": "torch.set_float32_matmul_precision('medium')",
    "no oneDNN": "torch.backends.mkldnn.set_flags(False)",
    "numpy raises": "np.seterr(all='raise')",
    "decimals of 3 digits": "decimal.getcontext().prec = 3",
    "attention by formula only": "sdp.enable_flash_sdp(False); sdp.enable_mem_efficient_sdp(False)",
    "attention without formula": "sdp.enable_math_sdp(False)",
    "function mode": "enter(type('_', (FunctionMode,), {'__torch_function__': passed_on})())",
    # With the first operation in such a mode, torch loads its compiler.
    "dispatch mode": (
        "enter(type('_', (DispatchMode,), {'__torch_dispatch__': passed_on})());torch.ones(1)"
    ),
    "module hooks": "modules.register_module_forward_hook(lambda module, args, out: None)",
    "layers start at zero": "torch.nn.Linear.reset_parameters = zero",
    "tables start at zero": "torch.nn.Embedding.reset_parameters = zero",
    "tensors kept for backward are packed": (
        "enter(torch.autograd.graph.saved_tensors_hooks(torch.Tensor.numpy, torch.from_numpy))"
    ),
    "warnings are errors": "warnings.simplefilter('error')",
    "warnings are shown": "warnings.simplefilter('always')",
    "print options": "torch.set_printoptions(precision=1, sci_mode=True, threshold=2)",
    "numpy's print options": "np.set_printoptions(precision=1, threshold=2)",
    "low recursion limit": "sys.setrecursionlimit(150)",
    "seeds": "random.seed(1); np.random.seed(1); torch.manual_seed(1)",
    "matplotlib dark": "import matplotlib.pyplot as plt; plt.style.use('dark_background')",
    "matplotlib upside down": "import matplotlib as mpl; mpl.rcParams['image.origin'] = 'lower'",
    "matplotlib large": "import matplotlib as mpl; mpl.rcParams['font.size'] = 30",
    "matplotlib TeX": "import matplotlib as mpl; mpl.rcParams['text.usetex'] = True",
    "the system's locale": "locale.setlocale(locale.LC_ALL, '')",
    "output closed": "sys.stdout = io.StringIO(); sys.stdout.close()",
    "no output": "sys.stdout = None",
    "output kept": "sys.stdout = io.StringIO()",
    "print replaced": "builtins.print = lambda *args: sys.stdout.write(' '.join(args) + '\\n')",
    "no collector": "gc.disable()",
    "traced": "sys.settrace(lambda frame, event, arg: None)",
    "profiled": "sys.setprofile(lambda frame, event, arg: None)",
    "another folder": "os.chdir(os.path.realpath(os.sep))",
    "hash seed 1": "",
}
ENVIRONMENTS = {"hash seed 1": {"PYTHONHASHSEED": "1"}}


def set_state(name: str, stack: contextlib.ExitStack) -> None:
    names = {
        **globals(),
        "enter": stack.enter_context,
        "FunctionMode": TorchFunctionMode,
        "DispatchMode": TorchDispatchMode,
        "sdp": torch.backends.cuda,
        "modules": torch.nn.modules.module,
        "zero": lambda layer: torch.nn.init.zeros_(layer.weight),
        "passed_on": lambda mode, func, types, args=(), kwargs=None: func(*args, **(kwargs or {})),
    }
    exec(STATES[name], names)


# ------------------------------------------------------------------ within a process
def everything() -> dict[str, object]:
    """What a check must leave as it was."""
    import matplotlib

    return {
        "dtype": torch.get_default_dtype(),
        "device": torch.empty(0).device,
        "threads": torch.get_num_threads(),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "autocast": torch.is_autocast_enabled("cpu"),
        "anomaly": torch.is_anomaly_enabled(),
        "deterministic": torch.get_deterministic_debug_mode(),
        "precision": (torch.get_float32_matmul_precision(), torch.backends.mkldnn.enabled),
        "denormal": torch.tensor(1e-39, dtype=torch.float32, device="cpu").mul(1).item(),
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
    before, found = run_cells(number, *record(number).before_solutions), {}
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
            figures.heat_map(
                {"m": values}, picture="m", rows="abc", columns="abcd", blocked=blocked
            )
            figures.stream_map(values, picture="s", words="abc", slots="wxyz", groups={"all": 4})
            figures.line_plot([0.0, 1.0], {"one": [0.0, 0.5]}, picture="l", **names)
        except Exception as error:
            return [repr(error)]
    shown.append(text.getvalue())
    return [hashlib.sha256(repr(one).encode()).hexdigest() for one in shown]


def run(name: str) -> dict:
    """What is told and drawn in a state, of answers made before it is set and, if they can be
    made then, after."""
    right = {k: v for number in LESSONS for k, v in right_answers(number).items()}
    for module in [m for m in sys.modules if m.partition(".")[0] == "helpers"]:
        del sys.modules[module]
    real = sys.stdout
    with contextlib.ExitStack() as stack:
        set_state(name, stack)
        at_first = everything()
        from helpers import judge

        told = {k: judge(k, v).message for k, v in wrong_answers(right).items()}
        verdicts = {k: judge(k, v) for k, v in right.items()}
        drawn = pictures()
        now = everything()
        changed = sorted(key for key in now if now[key] != at_first[key])
        sys.setrecursionlimit(1000)
        for number in LESSONS:
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
