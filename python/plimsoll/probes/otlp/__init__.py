"""OpenTelemetry's metrics, sent to us by OTLP/HTTP: receiver.py takes them in, decoding.py makes points of them, and
points.py values of ours."""
