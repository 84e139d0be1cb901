"""What one lab needs to know: where it lives, its ports, its secrets."""
import dataclasses
import json
import pathlib

REGION = "RegionOne"
SERVICES = ("keystone", "placement", "nova", "glance", "neutron", "control")


@dataclasses.dataclass(frozen=True)
class Secrets:
    """Made anew for each lab; never in a log or a process argument."""

    admin_password: str
    drover_password: str
    member_password: str
    service_password: str
    application_credential_id: str
    application_credential_secret: str
    control_token: str


@dataclasses.dataclass(frozen=True)
class Settings:
    """The contents of settings.json, which the lab writes (mode 0600)."""

    directory: pathlib.Path
    venv: pathlib.Path
    ports: dict
    secrets: Secrets
    token_ttl_seconds: int
    report_interval_seconds: int
    service_down_seconds: int
    hosts: dict

    @classmethod
    def read(cls, path):
        raw = json.loads(pathlib.Path(path).read_text())
        return cls(
            directory=pathlib.Path(raw["directory"]),
            venv=pathlib.Path(raw["venv"]),
            ports={name: int(raw["ports"][name]) for name in SERVICES},
            secrets=Secrets(
                admin_password=raw["secrets"]["adminPassword"],
                drover_password=raw["secrets"]["droverPassword"],
                member_password=raw["secrets"]["memberPassword"],
                service_password=raw["secrets"]["servicePassword"],
                application_credential_id=(
                    raw["secrets"]["applicationCredentialId"]),
                application_credential_secret=(
                    raw["secrets"]["applicationCredentialSecret"]),
                control_token=raw["secrets"]["controlToken"]),
            token_ttl_seconds=int(raw["tokenTtlSeconds"]),
            report_interval_seconds=int(raw["reportIntervalSeconds"]),
            service_down_seconds=int(raw["serviceDownSeconds"]),
            hosts=raw["hosts"])

    def path(self, *parts):
        return self.directory.joinpath(*parts)

    def url(self, service):
        return f"http://127.0.0.1:{self.ports[service]}"

    @property
    def auth_url(self):
        return self.url("keystone") + "/v3"

    @property
    def catalog(self):
        """Service type -> URL, as Keystone's catalogue shows it."""
        return {
            "identity": self.auth_url,
            "compute": self.url("nova") + "/v2.1",
            "placement": self.url("placement"),
            "image": self.url("glance"),
            "network": self.url("neutron"),
        }

    def database(self, name):
        # SQLAlchemy hands the time-out to sqlite3.connect
        return f"sqlite:///{self.path('db', name)}.sqlite?timeout=60"
