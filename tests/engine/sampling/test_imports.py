"""What the sampling package imports: numpy, and nothing that takes long to load."""

import subprocess
import sys

CODE = """
import importlib, pkgutil, sys
import engine.sampling
for module in pkgutil.iter_modules(engine.sampling.__path__, "engine.sampling."):
    importlib.import_module(module.name)
foreign = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
packages = {name.split(".")[1] for name in sys.modules if name.startswith("engine.")}
print(sorted(name for name in foreign if not name.startswith("_")), sorted(packages))
"""


def test_sampling_imports_numpy_alone():
    """So a page can show and check settings before torch is loaded."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['engine', 'numpy'] ['basics', 'sampling']"
