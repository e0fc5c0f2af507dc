"""Runs jax_cases.py in a process of its own: JAX has threads that other tests would fork with."""

import pathlib
import subprocess
import sys

CASES = pathlib.Path(__file__).with_name("jax_cases.py")


def test_jax_in_a_process_of_its_own():
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
