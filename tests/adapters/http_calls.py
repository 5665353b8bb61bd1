"""Helpers for tests of outgoing calls: requests, and the fault of a failed call."""

import pytest

from app.adapters.http.guarded_http import GuardedHttp
from app.ports.http import CallFailed, CallFault, HttpRequest


def fault_of(http: GuardedHttp, request: HttpRequest) -> CallFault:
    with pytest.raises(CallFailed) as failed:
        http.send(request)
    return failed.value.fault
