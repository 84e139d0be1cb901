"""Renders the configuration files of Keystone, Placement and Nova."""
from controlplane import settings as lab_settings

FILTERS = ",".join((
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "AggregateInstanceExtraSpecsFilter",
))

# The journals have the requests. What is not named here is at INFO.
LOG_LEVELS = ",".join((
    "keystone.common.password_hashing=ERROR",
    "nova.api.openstack.requestlog=WARNING",
    "placement.requestlog=WARNING",
    "stevedore=WARNING",
    "urllib3=WARNING",
))

_LOGGING = {"use_stderr": True, "default_log_levels": LOG_LEVELS}


def write(settings):
    """Writes etc/{keystone,placement,nova}.conf of the lab."""
    folder = settings.path("etc")
    folder.mkdir(exist_ok=True)
    for name, sections in (("keystone", _keystone(settings)),
                           ("placement", _placement(settings)),
                           ("nova", _nova(settings))):
        (folder / f"{name}.conf").write_text(_render(sections))


def _render(sections):
    lines = []
    for section, options in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {_text(value)}" for key, value in options.items()]
    return "\n".join(lines) + "\n"


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _database(settings, name):
    # a lab may lose its last second when the machine loses its power
    return {"connection": settings.database(name),
            "sqlite_synchronous": False}


def _service_user(settings, name):
    return {
        "auth_url": settings.auth_url,
        "auth_type": "password",
        "username": name,
        "password": settings.secrets.service_password,
        "project_name": "service",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
        "region_name": lab_settings.REGION,
    }


def _token_checks(settings, name):
    return {
        "www_authenticate_uri": settings.auth_url,
        **_service_user(settings, name),
    }


def _keystone(settings):
    keys = settings.path("keys")
    return {
        "DEFAULT": _LOGGING,
        "database": _database(settings, "keystone"),
        "token": {
            "provider": "fernet",
            "expiration": settings.token_ttl_seconds,
            "allow_expired_window": 0,
        },
        "fernet_tokens": {"key_repository": keys / "fernet"},
        "fernet_receipts": {"key_repository": keys / "fernet"},
        "credential": {"key_repository": keys / "credential"},
        "identity": {"password_hash_rounds": 4},
        "oslo_policy": {"enforce_scope": True, "enforce_new_defaults": True},
    }


def _placement(settings):
    return {
        "DEFAULT": _LOGGING,
        "api": {"auth_strategy": "keystone"},
        "placement_database": _database(settings, "placement"),
        "keystone_authtoken": _token_checks(settings, "placement"),
        "oslo_policy": {"enforce_scope": True},
    }


def _nova(settings):
    nova_user = _service_user(settings, "nova")
    return {
        "DEFAULT": {
            "transport_url": "fake:///",
            "host": "controller",
            "my_ip": "127.0.0.1",
            "compute_driver": "fake.FakeDriver",
            "state_path": settings.path("state"),
            **_LOGGING,
            "report_interval": settings.report_interval_seconds,
            "service_down_time": settings.service_down_seconds,
            "executor_thread_pool_size": 16,
            "thread_pool_statistic_period": -1,
            "rpc_response_timeout": 120,
            "long_rpc_timeout": 300,
            # builds and snapshots share one pool; its size is the larger
            "max_concurrent_builds": 6,
            "max_concurrent_snapshots": 6,
            "reserved_host_memory_mb": 0,
            "initial_cpu_allocation_ratio": 4.0,
            "initial_ram_allocation_ratio": 1.0,
            "initial_disk_allocation_ratio": 1.0,
            "update_resources_interval": 60,
            "sync_power_state_interval": -1,
            "heal_instance_info_cache_interval": -1,
            "shelved_poll_interval": -1,
            "instance_usage_audit": False,
        },
        # checking its own answers takes Nova a third of its time for them
        "api": {"auth_strategy": "keystone", "response_validation": "ignore"},
        "api_database": _database(settings, "nova_api"),
        "database": _database(settings, "nova_cell1"),
        "keystone_authtoken": _token_checks(settings, "nova"),
        "placement": {
            **nova_user,
            "endpoint_override": settings.url("placement"),
        },
        "service_user": {"send_service_user_token": False, **nova_user},
        "glance": {"api_servers": settings.url("glance")},
        "neutron": {
            **nova_user,
            "endpoint_override": settings.url("neutron"),
        },
        "cinder": nova_user,
        "oslo_concurrency": {"lock_path": settings.path("locks")},
        "oslo_policy": {"enforce_scope": True},
        "conductor": {"workers": 1},
        "scheduler": {
            "workers": 1,
            "discover_hosts_in_cells_interval": -1,
            "limit_tenants_to_placement_aggregate": True,
            "enable_isolated_aggregate_filtering": True,
        },
        "filter_scheduler": {
            "enabled_filters": FILTERS,
            "build_failure_weight_multiplier": 0,
        },
        "quota": {"instances": -1, "cores": -1, "ram": -1},
        "image_cache": {"manager_interval": -1},
        "vnc": {"enabled": False},
        "oslo_messaging_notifications": {"driver": "noop"},
        "wsgi": {
            "api_paste_config":
                settings.venv / "etc" / "nova" / "api-paste.ini",
        },
    }
