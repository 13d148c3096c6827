"""A small table, its policy, and the command line as a process: what the tests of the commands share."""

import os
import subprocess
import sys

TABLE = "age;ward;ill\n" + "".join(f"{20 + i % 30};{'AB'[i % 2]};{'xyz'[i % 3]}\n" for i in range(120))
POLICY = """
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "intervals", widths = [5, 10, 30] }
[attributes.ward]
role = "qi"
hierarchy = { kind = "suppress" }
[attributes.ill]
role = "sensitive"
[[privacy]]
model = "k_anonymity"
k = 5
[[privacy]]
model = "distinct_l"
attribute = "ill"
l = 2
[recoding]
algorithm = "optimal"
"""


def run(*words, cwd=None, env=None):
    done = subprocess.run(
        [sys.executable, "-m", "indistinct", *map(str, words)],
        capture_output=True, cwd=cwd, env={**os.environ, **(env or {})}, timeout=200, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.decode(), done.stderr.decode()
