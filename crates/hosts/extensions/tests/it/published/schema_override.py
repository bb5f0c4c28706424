from reader import about, log, serve

TAG = "schema-test"
schema = {"segments": {
    "PID": {"fields": [
        {"field": 3, "component": 1, "required": True, "minlength": 8, "maxlength": 8, "pattern": "\\d{8}",
         "placeholder": "12345678"},
        {"field": 3, "component": 4, "template": "MRN"},
        {"field": 8, "values": {"M": "Male", "F": "Female", "O": "Other", "U": "Unknown", "N": "None"}},
    ]},
    "OBX": {"fields": [
        {"field": 2, "required": True,
         "values": {"NM": "n", "ST": "s", "TX": "t", "CE": "c", "DT": "d", "TM": "m"}},
        {"field": 3, "component": 1, "note": "code"},
        {"field": 11, "required": True, "values": {"F": "f", "P": "p", "C": "c", "X": "x"}},
    ]},
}}


def verify(ask):
    for line in ("PID overridden", "OBX overridden", "look at the form"):
        log(TAG, line)


serve(TAG, about("Schema", ["schema-test/verify"], ["schema-test/verify"], capabilities={"schemaProvider": True},
                 schema=schema), {"schema-test/verify": verify})
