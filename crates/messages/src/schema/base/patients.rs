//! Segments about the message and about a patient.

use super::{Table, row};

const YES_NO: &[(&str, &str)] = &[("Y", "Yes"), ("N", "No")];

const SEX: &[(&str, &str)] = &[
    ("A", "Ambiguous"),
    ("F", "Female"),
    ("M", "Male"),
    ("N", "Not applicable"),
    ("O", "Other"),
    ("U", "Unknown"),
];

const MARITAL: &[(&str, &str)] = &[
    ("A", "Separated"),
    ("D", "Divorced"),
    ("M", "Married"),
    ("S", "Single"),
    ("U", "Unknown"),
    ("W", "Widowed"),
];

const PATIENT_CLASS: &[(&str, &str)] = &[
    ("B", "Obstetrics"),
    ("C", "Commercial account"),
    ("E", "Emergency"),
    ("I", "Inpatient"),
    ("N", "Not applicable"),
    ("O", "Outpatient"),
    ("P", "Before admission"),
    ("R", "Recurring"),
    ("U", "Unknown"),
];

const PROCESSING: &[(&str, &str)] = &[("D", "Debugging"), ("P", "Production"), ("T", "Training")];

const ACKNOWLEDGE: &[(&str, &str)] =
    &[("AL", "Always"), ("ER", "On errors"), ("NE", "Never"), ("SU", "On success")];

/// MSH, EVN, PID, PV1, NK1, DG1 and NTE.
pub(super) const SEGMENTS: &[Table] = &[
    (
        "MSH",
        &[
            row(1, "Field delimiter", "Message").required().longest(1).template("|"),
            row(2, "Encoding characters", "Message").required().longest(5).template("^~\\&"),
            row(3, "Sending application", "Sender").longest(227),
            row(4, "Sending facility", "Sender").longest(227),
            row(5, "Receiving application", "Receiver").longest(227),
            row(6, "Receiving facility", "Receiver").longest(227),
            row(7, "Date and time of the message", "Message").required().date_time().template("{now}"),
            row(8, "Security", "Message").longest(40),
            row(9, "Message code", "Message")
                .component(1)
                .required()
                .longest(3)
                .note("Such as ADT, ORM or ORU"),
            row(9, "Trigger event", "Message").component(2).longest(3).note("Such as A01"),
            row(9, "Message structure", "Message").component(3).longest(7),
            row(10, "Control id", "Message").required().longest(20).template("{auto}"),
            row(11, "Processing", "Message").required().longest(3).values(PROCESSING).template("P"),
            row(12, "Version", "Message").required().longest(60).template("2.5.1"),
            row(13, "Sequence number", "Message").longest(15),
            row(14, "Continuation pointer", "Message").longest(180),
            row(15, "Accept acknowledgement", "Acknowledgement").longest(2).values(ACKNOWLEDGE),
            row(16, "Application acknowledgement", "Acknowledgement").longest(2).values(ACKNOWLEDGE),
            row(17, "Country", "Message").longest(3),
            row(18, "Character set", "Message").longest(16),
        ],
    ),
    (
        "EVN",
        &[
            row(1, "Event type", "Event").longest(3),
            row(2, "Recorded", "Event").required().date_time().template("{now}"),
            row(3, "Planned", "Event").date_time(),
            row(4, "Reason", "Event").longest(3),
            row(5, "Operator", "Event").longest(250),
            row(6, "Occurred", "Event").date_time(),
            row(7, "Facility", "Event").longest(241),
        ],
    ),
    (
        "PID",
        &[
            row(1, "Set id", "Patient").longest(4).template("1"),
            row(2, "Patient id (older)", "Identifiers").longest(20),
            row(3, "Patient identifiers", "Identifiers").required().longest(250),
            row(4, "Alternate patient id (older)", "Identifiers").longest(20),
            row(5, "Family name", "Name").component(1).required().longest(194),
            row(5, "Given name", "Name").component(2).longest(30),
            row(5, "Further names", "Name").component(3).longest(30),
            row(5, "Suffix", "Name").component(4).longest(20),
            row(5, "Prefix", "Name").component(5).longest(20),
            row(6, "Mother's maiden name", "Name").longest(250),
            row(7, "Date of birth", "Patient").date(),
            row(8, "Sex", "Patient").longest(1).values(SEX),
            row(9, "Alias", "Name").longest(250),
            row(10, "Race", "Patient").longest(250),
            row(11, "Street", "Address").component(1).longest(184),
            row(11, "Second line", "Address").component(2).longest(120),
            row(11, "City", "Address").component(3).longest(50),
            row(11, "State or province", "Address").component(4).longest(50),
            row(11, "Postal code", "Address").component(5).longest(12),
            row(11, "Country", "Address").component(6).longest(3),
            row(12, "County", "Address").longest(4),
            row(13, "Phone at home", "Contact").longest(250),
            row(14, "Phone at work", "Contact").longest(250),
            row(15, "Language", "Patient").longest(250),
            row(16, "Marital status", "Patient").longest(250).values(MARITAL),
            row(17, "Religion", "Patient").longest(250),
            row(18, "Account number", "Identifiers").longest(250),
            row(19, "Social security number (older)", "Identifiers").longest(16),
            row(20, "Driving licence", "Identifiers").longest(25),
            row(22, "Ethnic group", "Patient").longest(250),
            row(23, "Place of birth", "Patient").longest(250),
            row(24, "One of several at birth", "Patient").longest(1).values(YES_NO),
            row(25, "Order of birth", "Patient").longest(2),
            row(29, "Date and time of death", "Patient").date_time(),
            row(30, "Dead", "Patient").longest(1).values(YES_NO),
        ],
    ),
    (
        "PV1",
        &[
            row(1, "Set id", "Visit").longest(4).template("1"),
            row(2, "Patient class", "Visit").required().longest(1).values(PATIENT_CLASS),
            row(3, "Point of care", "Location").component(1).longest(20),
            row(3, "Room", "Location").component(2).longest(20),
            row(3, "Bed", "Location").component(3).longest(20),
            row(3, "Facility", "Location").component(4).longest(227),
            row(4, "Kind of admission", "Visit").longest(2),
            row(5, "Number before admission", "Visit").longest(250),
            row(6, "Location before", "Location").longest(80),
            row(7, "Attending doctor", "Doctors").longest(250),
            row(8, "Referring doctor", "Doctors").longest(250),
            row(9, "Consulting doctor", "Doctors").longest(250),
            row(10, "Service", "Visit").longest(3),
            row(14, "Source of admission", "Visit").longest(6),
            row(17, "Admitting doctor", "Doctors").longest(250),
            row(18, "Patient type", "Visit").longest(2),
            row(19, "Visit number", "Visit").longest(250),
            row(20, "Financial class", "Visit").longest(50),
            row(36, "Discharged to", "Discharge").longest(3),
            row(44, "Admitted", "Visit").date_time(),
            row(45, "Discharged", "Discharge").date_time(),
        ],
    ),
    (
        "NK1",
        &[
            row(1, "Set id", "Related person").required().longest(4).template("1"),
            row(2, "Family name", "Related person").component(1).longest(194),
            row(2, "Given name", "Related person").component(2).longest(30),
            row(3, "Relationship", "Related person").longest(250),
            row(4, "Address", "Contact").longest(250),
            row(5, "Phone", "Contact").longest(250),
            row(6, "Phone at work", "Contact").longest(250),
            row(7, "Role", "Related person").longest(250),
            row(8, "From", "Related person").date(),
            row(9, "Until", "Related person").date(),
            row(15, "Sex", "Related person").longest(1).values(SEX),
            row(16, "Date of birth", "Related person").date(),
        ],
    ),
    (
        "DG1",
        &[
            row(1, "Set id", "Diagnosis").required().longest(4).template("1"),
            row(2, "Coding method (older)", "Diagnosis").longest(2),
            row(3, "Code", "Diagnosis").component(1).longest(20),
            row(3, "Text", "Diagnosis").component(2).longest(199),
            row(3, "Coding system", "Diagnosis").component(3).longest(20),
            row(4, "Description (older)", "Diagnosis").longest(40),
            row(5, "Date and time", "Diagnosis").date_time(),
            row(6, "Kind", "Diagnosis").required().longest(2).values(&[
                ("A", "At admission"),
                ("F", "Final"),
                ("W", "Working"),
            ]),
            row(15, "Priority", "Diagnosis").longest(2),
            row(16, "Diagnosed by", "Diagnosis").longest(250),
        ],
    ),
    (
        "NTE",
        &[
            row(1, "Set id", "Note").longest(4).template("1"),
            row(2, "Source", "Note").longest(8).values(&[
                ("L", "Ancillary department"),
                ("O", "Other system"),
                ("P", "Orderer"),
            ]),
            row(3, "Text", "Note").longest(65_536),
            row(4, "Kind", "Note").longest(250),
        ],
    ),
];
