"""The command line is tried without the settings of whoever tries it."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_settings_of_ones_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.getbasetemp() / "no-settings"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder
