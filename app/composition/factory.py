"""Builds the Flask application out of ports and settings."""

from collections.abc import Callable
from functools import partial

from flask import Flask, Response, request
from werkzeug.wrappers import Response as BaseResponse

import app as latchkey
from app.composition import wiring
from app.composition.settings import Settings, environment_names, load_settings
from app.console.overview.pages import mount_console
from app.endpoints.demo_provider import make_demo_provider
from app.endpoints.forward_auth import make_forward_auth
from app.endpoints.public import backchannel, make_health, media, well_known
from app.graphql.schema import create_endpoint
from app.graphql.server.endpoint import GraphqlEndpoint
from app.hosted.view import mount_hosted
from app.oauth.pages import mount_oauth
from app.ports import Ports
from app.web.bodies import FormRequest, refuse_encoded_body
from app.web.converters import register_converters
from app.web.dispatch import Dispatch
from app.web.errors import register_errors
from app.web.headers import NOTHING_MAY_RUN, cors_headers, security_headers
from app.web.installation import Installation, install, installation_of
from app.web.limits import limit_pages, set_up_limits
from app.web.logs import set_up_logs
from app.web.operations_server import Readiness
from app.web.request_hooks import (
    add_observer,
    add_request_hook,
    install_request_hooks,
    make_access_log,
    make_request_metrics,
    make_request_traces,
    request_hooks,
)
from app.web.server import THREADS, BodyLimits, BufferedServer, Server, close_connections_when
from app.web.sessions import PageSessions, cookie_settings
from app.web.translation import set_up_translation

API_PATH = "/graphql/"
_WITHOUT_SLASH = API_PATH.removesuffix("/")
_ALIASES = {(_WITHOUT_SLASH, method): API_PATH for method in ("POST", "OPTIONS")}
"""What is answered like a request with the slash; no method is redirected."""


def create_app(
    ports: Ports | None = None,
    settings: Settings | None = None,
    mount_provider: Callable[[Flask], None] = mount_oauth,
) -> Flask:
    """The application, on ``ports`` or on those that ``settings`` ask for.

    Without ``settings`` they come from the environment; raises ``SettingsError`` when they cannot
    be used. Nothing is connected before the first request needs it. ``mount_provider`` adds the
    OpenID provider, on the hosted pages.
    """
    chosen = settings or load_settings()
    app = Flask(latchkey.__name__)
    app.request_class = FormRequest
    app.config.from_mapping(
        cookie_settings(secure=chosen.public_url.startswith("https://")),
        SECRET_KEY=chosen.secret,
        SECRET_KEY_FALLBACKS=[*chosen.cookie_key_fallbacks],
        MAX_CONTENT_LENGTH=chosen.upload_max,
    )
    app.session_interface = PageSessions()
    installation = wiring.make_installation(
        ports
        or wiring.connect(
            chosen,
            max_writers=THREADS // 2,
            metrics=wiring.make_metrics(chosen),
            traces=wiring.make_traces(),
        ),
        chosen,
    )
    install(app, installation)
    register_converters(app)
    set_up_logs(level=chosen.log_level, development=chosen.development)
    set_up_translation(app)
    register_errors(app)
    _add_headers(app, installation)
    app.before_request(refuse_encoded_body)
    app.register_blueprint(make_health(Readiness(installation.ports)))
    app.register_blueprint(well_known)
    app.register_blueprint(backchannel)
    app.register_blueprint(media)
    if chosen.forward_auth:
        app.register_blueprint(make_forward_auth(chosen.forward_auth_headers))
    if chosen.development:
        app.register_blueprint(
            make_demo_provider(partial(wiring.make_demo_provider_key, chosen.secret))
        )
    mount_console(app)
    mount_hosted(app)
    mount_provider(app)
    _mount_graphql(app, installation, create_endpoint(installation))
    install_request_hooks(app, installation)
    if installation.ports.traces.is_on:
        add_request_hook(app, make_request_traces(installation.ports.traces))
    if chosen.access_log:
        add_observer(app, make_access_log(chosen.access_log_sample))
    if chosen.operations_port:
        add_observer(app, make_request_metrics(installation.ports.metrics))
    limit_pages(app, set_up_limits(app, wiring.page_counts(installation.ports, chosen)))
    return app


def create_server(
    app: Flask, is_stopping: Callable[[], bool] = lambda: False
) -> Server | BufferedServer:
    """Return ``app`` for granian, with the sizes of bodies that its installation allows."""
    served = close_connections_when(is_stopping, app)
    installation = installation_of(app)
    max_size = installation.graphql_body_max
    body_limits = BodyLimits(max_size, max_size + installation.upload_max)
    on_refusal = request_hooks(app).refused
    limits = installation.connection_limits
    if installation.requests_are_buffered:
        return BufferedServer(
            served,
            body_limits,
            on_refusal=on_refusal,
            environment_names=environment_names(),
            connection_limits=limits,
        )
    return Server(served, body_limits, on_refusal=on_refusal, connection_limits=limits)


def _mount_graphql(app: Flask, installation: Installation, endpoint: GraphqlEndpoint) -> None:
    """Requests to the API bypass Flask; the playground is an ordinary, limited view.

    Pages of allowed origins can read what Flask answers at the API's path, also without the slash.
    """
    origins = installation.allowed_graphql_origins

    def playground() -> BaseResponse:
        return Response.from_app(endpoint.page, request.environ, buffered=True)

    app.add_url_rule(API_PATH, view_func=playground)

    @app.after_request
    def add_cors_headers(response: Response) -> Response:
        if request.path in (API_PATH, _WITHOUT_SLASH):
            cors = cors_headers(request.headers.get("Origin"), origins)
            response.vary.update(filter(None, [cors.pop("Vary", "")]))
            response.headers.update(cors)
        return response

    app.wsgi_app = Dispatch(  # type: ignore[method-assign]
        app.wsgi_app, {API_PATH: endpoint}, is_page=endpoint.is_page, aliases=_ALIASES
    )


def _add_headers(app: Flask, installation: Installation) -> None:
    headers = (
        *security_headers(installation.ports.configuration),
        ("Content-Security-Policy", NOTHING_MAY_RUN),
    )

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in headers:
            response.headers.setdefault(name, value)
        _make_location_relative(response)
        return response


def _make_location_relative(response: Response) -> None:
    """Leave scheme and host out of a redirect to a path of this installation.

    Flask's redirects to a path with a slash have those of the request as it arrives here: without
    TLS, behind a proxy that ends it.
    """
    location = response.headers.get("Location", "")
    if location.startswith(request.host_url):
        # Two slashes at its start would make a path a host.
        path = location.removeprefix(request.host_url).lstrip("/\\")
        response.headers["Location"] = f"/{path}"
