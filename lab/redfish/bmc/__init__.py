"""One Redfish service for the lab: the emulator of sushy-tools as it is, with
machines that hold nothing but their power, and a port for tests beside it."""
