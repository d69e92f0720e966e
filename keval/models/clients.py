"""Makes the SDK's client of a service; of the environment of the process only proxies and certificates count."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from keval.models.services import ANTHROPIC_URL, Service

if TYPE_CHECKING:
    import anthropic
    from google.oauth2.service_account import Credentials

    Client = anthropic.AsyncAnthropic | anthropic.AsyncAnthropicBedrock | anthropic.AsyncAnthropicVertex

GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def new_client(service: Service, key: str) -> Client:
    """Return a client that tries nothing twice.

    Raises ImportError where what the provider needs is not installed, OSError and ValueError for a key that is a file
    and cannot be read.
    """
    import anthropic

    from keval.processes import web_connections

    # To follow one would hand the headers and all that is asked to an address that nobody has named.
    http_client = anthropic.DefaultAsyncHttpxClient(mounts=web_connections.mounts(), follow_redirects=False)
    client: Client
    if service.provider == "bedrock":
        client = anthropic.AsyncAnthropicBedrock(
            api_key=key, aws_region=service.region, base_url=_bedrock(service), max_retries=0, http_client=http_client
        )
    elif service.provider == "vertex":
        client = anthropic.AsyncAnthropicVertex(
            credentials=_google(key), region=service.region or "", project_id=service.project or "",
            base_url=_vertex(service), max_retries=0, http_client=http_client,
        )  # fmt: skip
    else:
        url = service.base_url or ANTHROPIC_URL
        client = anthropic.AsyncAnthropic(base_url=url, api_key=key, max_retries=0, http_client=http_client)
    # The constructors merge ANTHROPIC_CUSTOM_HEADERS of the process into every call and have no argument against it.
    client._custom_headers = dict(service.headers)  # noqa: SLF001 - see above
    return client


def is_login_error(error: Exception) -> bool:
    """Return whether the library by which a cloud is logged in to has failed; it is there only where it is needed."""
    return type(error).__module__.startswith("google.auth")


def _bedrock(service: Service) -> str:
    """Return the address; without one the SDK would take that of the environment."""
    return service.base_url or f"https://bedrock-runtime.{service.region}.amazonaws.com"


def _vertex(service: Service) -> str | None:
    """Return the address; for one of several regions the SDK knows it."""
    if service.base_url or service.region in ("global", "us", "eu"):
        return service.base_url
    return f"https://{service.region}-aiplatform.googleapis.com/v1"


def _google(path: str) -> Credentials:
    try:
        from google.oauth2 import service_account
    except ImportError as error:
        raise ImportError("Google's login is not installed; pip install 'keval[vertex]'") from error
    read = service_account.Credentials.from_service_account_file
    return cast("Credentials", read(path, scopes=[GOOGLE_SCOPE]))  # type: ignore[no-untyped-call] # Google's
