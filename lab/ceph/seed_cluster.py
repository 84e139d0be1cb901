"""Puts into a new cluster what the lab's Ceph has, by the monitor's own
commands in one connection: each call of the `ceph` command takes as long as
all of this.

usage: seed_cluster.py before-daemons | after-daemons   (a plan as JSON on standard input)

before-daemons: the OSD, the dashboard's address and its user.
after-daemons: waits for the OSD, makes the pool, waits until all is healthy.
"""
import json
import sys
import time

import bcrypt
import rados
import rbd

DEADLINE_SECONDS = 60
POLL_SECONDS = 0.05
#: Low, as every login of a test has to be checked with it.
BCRYPT_ROUNDS = 6


def main():
    plan = json.load(sys.stdin)
    cluster = rados.Rados(conffile=plan["conf"], name="client.admin")
    cluster.connect(DEADLINE_SECONDS)
    try:
        steps = {"before-daemons": before_daemons, "after-daemons": after_daemons}
        steps[sys.argv[1]](cluster, plan)
    finally:
        cluster.shutdown()


def before_daemons(cluster, plan):
    monitor(cluster, "osd new", uuid=plan["osdUuid"], id=0)
    # It would make a pool of its own and search for disks.
    monitor(cluster, "config-key set", key="mgr/devicehealth/enable_monitoring", val="false")
    dashboard = {"ssl": "false", "server_addr": "127.0.0.1", "server_port": str(plan["dashboardPort"])}
    for name, value in dashboard.items():
        # The monitor knows the manager's options only once that runs.
        monitor(cluster, "config set", who="mgr", name=f"mgr/dashboard/{name}", value=value, force=True)
    monitor(cluster, "config-key set", key="mgr/dashboard/accessdb_v2", val=json.dumps(users(plan)))


def users(plan):
    hashed = bcrypt.hashpw(plan["password"].encode(), bcrypt.gensalt(BCRYPT_ROUNDS)).decode()
    user = {
        "username": plan["user"],
        "password": hashed,
        "roles": ["administrator"],
        "name": None,
        "email": None,
        "lastUpdate": int(time.time()) - 1,
        "enabled": True,
        "pwdExpirationDate": None,
        "pwdUpdateRequired": False,
    }
    return {"users": {plan["user"]: user}, "roles": {}, "version": 2}


def after_daemons(cluster, plan):
    wait("the OSD to be up", lambda: monitor(cluster, "osd stat")["num_up_osds"] == 1)
    monitor(cluster, "osd pool create", pool=plan["pool"], pg_num=8, pgp_num=8, pool_type="replicated")
    monitor(cluster, "osd pool application enable", pool=plan["pool"], app="rbd")
    with cluster.open_ioctx(plan["pool"]) as pool:
        rbd.RBD().pool_init(pool, True)
    wait("the manager", lambda: monitor(cluster, "mgr stat")["available"])
    wait("HEALTH_OK", lambda: monitor(cluster, "health")["status"] == "HEALTH_OK")


def monitor(cluster, prefix, **arguments):
    code, output, message = cluster.mon_command(json.dumps({"prefix": prefix, "format": "json", **arguments}), b"")
    if code != 0:
        raise SystemExit(f"{prefix}: {message} ({code})")
    return json.loads(output) if output.strip() else None


def wait(what, is_so):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {DEADLINE_SECONDS} s for {what}")
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
