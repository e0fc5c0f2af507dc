"""What importing the package brings, and what is said where something is missing."""

import pytest


def test_parts_are_imported_when_they_are_used(run_python):
    printed = run_python(
        """
        import sys, batchweave
        print("torch" in sys.modules, "jax" in sys.modules)
        print(batchweave.torch.StreamingDataLoader.__name__)
        try:
            batchweave.tensorflow
        except AttributeError as error:
            print(error)
        """
    )
    assert printed == "False False\nStreamingDataLoader\nmodule 'batchweave' has no attribute 'tensorflow'\n"


@pytest.mark.parametrize("package", ["torch", "jax"])
def test_a_missing_package_is_named(run_python, package):
    printed = run_python(
        """
        import sys
        sys.modules[sys.argv[1]] = None  # As if it were not installed.
        import batchweave
        try:
            getattr(batchweave, sys.argv[1])
        except ModuleNotFoundError as error:
            print(error)
        """,
        package,
    )
    assert f"needs {package}, which is not installed: pip install" in printed


def test_another_missing_package_is_not_taken_for_it(run_python):
    printed = run_python(
        """
        from batchweave._needs import needs
        try:
            with needs("torch", "2.6"):
                import no_such_package
        except ModuleNotFoundError as error:
            print(error)
        """
    )
    assert printed == "No module named 'no_such_package'\n"
