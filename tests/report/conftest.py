"""Reports that are made once."""

from __future__ import annotations

import pytest
import report_samples

from npu_migrate import packs


@pytest.fixture(scope="session")
def rules():
    return packs.load()


@pytest.fixture(scope="session")
def real():
    return report_samples.real()


@pytest.fixture(scope="session")
def hostile():
    return report_samples.hostile()


@pytest.fixture(scope="session")
def large():
    return report_samples.large()
