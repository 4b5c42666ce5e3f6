"""The names of metrics that several readers of a run look for, as k6 has them and the engine beside them."""

# The first of these that a run has is its response time.
RESPONSE_METRICS = ("http_req_response_time", "http_req_duration", "iteration_response_time", "iteration_duration")
REQUEST_TIMES = RESPONSE_METRICS[:2]  # a run without requests has none of these
BLOCKED, CONNECTING, HANDSHAKING = "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking"
DURATION = "http_req_duration"
