"""Nova's API does two things for every request that need doing once; with
hundreds of polls a minute they are a fifth of its time."""
from nova import policy
from nova.api.validation import validators


def lower():
    """Call once, when the API application is loaded."""
    _read_policies_once()
    _make_validators_once()


def _read_policies_once():
    """Otherwise each check of a permission searches for changed files."""
    policy.init()
    enforcer = policy._ENFORCER
    enforcer.load_rules()
    enforcer.use_conf = False


def _make_validators_once():
    """Otherwise each request makes a class for the schema it meets."""
    plain = validators._SchemaValidator
    # the schema is kept as well, so that its id stays its own
    made = {}

    def validator(schema, relax_additional_properties=False, is_body=True):
        key = (id(schema), relax_additional_properties, is_body)
        if key not in made:
            made[key] = (schema, plain(
                schema, relax_additional_properties, is_body))
        return made[key][1]

    validators._SchemaValidator = validator
