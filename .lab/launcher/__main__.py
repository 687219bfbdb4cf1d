"""`python .lab/launcher/__main__.py WORD...`, which ../../lab runs with its own arguments."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from launcher.main import run  # noqa: E402

run(sys.argv[1:])
