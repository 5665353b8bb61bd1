"""What the tests of outgoing calls begin with, and how a call that fails is looked at."""

import pytest

from app.adapters.http import GuardedHttp
from app.ports.http import CallFailed, CallFault, HttpRequest


def fault_of(http: GuardedHttp, request: HttpRequest) -> CallFault:
    with pytest.raises(CallFailed) as failed:
        http.send(request)
    return failed.value.fault
