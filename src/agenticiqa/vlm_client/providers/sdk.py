"""What OpenAI's and Anthropic's SDKs have in common: they are opened alike, and their errors have the same names."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from agenticiqa.errors import BackendError
from agenticiqa.vlm_client.providers.http import deadline_hooks, error_for_status, page_in, retry_after_seconds
from agenticiqa.vlm_client.providers.network import NetworkVLMClient


class SdkVLMClient(NetworkVLMClient):
    """A model behind a vendor's SDK; `sdk_class` is the class of the package that is opened."""

    sdk_class: ClassVar[str]

    def _connect(self) -> Any:
        sdk, link = import_module(self.package), self.link
        http = sdk.DefaultHttpxClient(event_hooks=deadline_hooks(link.timeout))
        return getattr(sdk, self.sdk_class)(
            api_key=link.key, base_url=link.base_url, timeout=link.timeout, max_retries=0, http_client=http
        )

    def _translated(self, error: Exception) -> BackendError | None:
        sdk = import_module(self.package)
        if isinstance(error, sdk.APITimeoutError):
            return self._too_late()
        if isinstance(error, sdk.APIConnectionError):
            return self._out_of_reach()
        if isinstance(error, sdk.APIResponseValidationError):
            return self._malformed()
        return self._status_error(error) if isinstance(error, sdk.APIStatusError) else None

    def _status_error(self, error: Any, parameters: tuple[str, ...] = ()) -> BackendError:
        wait = retry_after_seconds(error.response.headers)
        # A page stands in the answer's body only: the SDK's message has what it could read as JSON.
        said = self._redacted(error.response.text if page_in(error.response.text) else error.message)
        return error_for_status(error.status_code, self.model, said, retry_after=wait, parameters=parameters)
