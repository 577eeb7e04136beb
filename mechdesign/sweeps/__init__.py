"""Many designs at once: grids of problems, on any executor, each result kept as a file."""

from mechdesign.sweeps.grid import SweepFile, read_sweep
from mechdesign.sweeps.running import BASELINES, sweep
from mechdesign.sweeps.sweep_result import SweepResult, SweepRow

__all__ = ["BASELINES", "SweepFile", "SweepResult", "SweepRow", "read_sweep", "sweep"]


def __dir__() -> list[str]:
    return __all__
