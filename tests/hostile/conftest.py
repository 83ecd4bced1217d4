"""The fixtures of the end-to-end tests serve here, too."""

import importlib.util
import sys
from pathlib import Path

E2E = Path(__file__).resolve().parents[1] / "e2e"
sys.path.append(str(E2E))
_spec = importlib.util.spec_from_file_location("conftest_of_e2e", E2E / "conftest.py")
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("__")})
