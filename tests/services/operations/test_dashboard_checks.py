"""What ``flask doctor`` finds out about the settings for Saleor's dashboard."""

from dataclasses import replace

import pytest

from app.composition.settings import SettingsError, load_settings
from app.domain.authorization.actor import OPERATOR
from app.domain.values.installation import CheckState
from app.ports import Ports
from app.services.operations.environment_checks import check_dashboard

DASHBOARD = "https://dashboard.example.com"


def found(ports: Ports, origin: str, *allowed: str, hosts: tuple[str, ...] = ()) -> list[str]:
    """Return the settings that the remedies name."""
    configuration = replace(ports.configuration, development=False, allowed_client_hosts=hosts)
    findings = check_dashboard(
        replace(ports, configuration=configuration), OPERATOR, origin, allowed
    )
    assert all((one.state is CheckState.FINE) is not bool(one.remedy) for one in findings)
    return [name for one in findings for name in one.remedy.split() if name.startswith("ALLOWED")]


def test_dashboard_needs_its_origin_by_name_and_its_host(ports: Ports) -> None:
    hosts = ("dashboard.example.com",)
    origins, clients = "ALLOWED_GRAPHQL_ORIGINS.", "ALLOWED_CLIENT_HOSTS."
    assert found(ports, "", "*") == []
    assert found(ports, DASHBOARD, "*", hosts=hosts) == [origins]
    assert found(ports, DASHBOARD, "*", "https://other.example.com") == [origins, clients]
    assert found(ports, DASHBOARD, DASHBOARD) == [clients]
    assert found(ports, DASHBOARD, "*", DASHBOARD, hosts=hosts) == []


def test_dashboard_has_one_origin() -> None:
    settings = load_settings({"DASHBOARD_ORIGIN": "https://Dashboard.example.com/"})
    assert settings.dashboard_origin == DASHBOARD
    for wrong in ("*", "dashboard.example.com", "https://dashboard.example.com/staff"):
        with pytest.raises(SettingsError, match="DASHBOARD_ORIGIN"):
            load_settings({"DASHBOARD_ORIGIN": wrong})
