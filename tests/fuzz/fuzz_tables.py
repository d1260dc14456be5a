"""Tables and command lines as people write them, and as nobody should."""

from hypothesis import strategies as st

_CELLS = st.one_of(
    st.floats(-100, 100).map(lambda v: f"{v:.4g}"),
    st.floats(-100, 100).map(lambda v: f"{v:.4g}"),
    st.floats(-100, 100).map(lambda v: f"{v:.4g}"),
    st.integers(-1000, 1000).map(str),
)
_ODD_CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            "NA",
            "nan",
            "inf",
            "-inf",
            "1e308",
            "1e-320",
            "1e400",
            "1,5",
            "1 000",
            "1.234,5",
            "=1+1",
            "<script>",
            '"',
            "''",
            "TRUE",
            "yes",
            "2024-01-31",
            "2024-13-45",
            "31/01/2024",
            "0x10",
            "1_000",
            "\N{MINUS SIGN}1",
            "Ω",
            "\x00",
            "--help",
            "1e5000",
        ]
    ),
    st.text(max_size=6),
)
_NAMES = st.lists(st.one_of(st.sampled_from(["x", "y", "time", "n"]), st.text(max_size=5)), min_size=1, max_size=4)


@st.composite
def table_text(draw):
    """A table as bytes: mostly numbers, with something odd in some of them."""
    n_columns, n_rows = draw(st.integers(1, 4)), draw(st.integers(0, 12))
    separator = draw(st.sampled_from([",", ",", ",", ";", "\t", " ", "|"]))
    names = ["x", "y", "z", "w"][:n_columns] if draw(st.integers(0, 2)) else draw(_NAMES)
    rows = [[draw(_CELLS) for _ in range(n_columns)] for _ in range(n_rows)]
    for _ in range(draw(st.integers(0, 2)) if n_rows else 0):
        rows[draw(st.integers(0, n_rows - 1))][draw(st.integers(0, n_columns - 1))] = draw(_ODD_CELLS)
    if rows and draw(st.integers(0, 9)) == 0:
        rows[-1] = rows[-1][:-1]
    lines = ([separator.join(names)] if draw(st.integers(0, 4)) else []) + [separator.join(r) for r in rows]
    text = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join(lines)
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig", "latin-1"]))
    whole = text.encode(encoding, errors="replace")
    return whole if draw(st.integers(0, 9)) else draw(st.binary(max_size=200))


_WORDS = st.one_of(
    st.sampled_from(
        [
            "x",
            "y",
            "1",
            "2",
            "0",
            "-1",
            "nan",
            "inf",
            "1e400",
            "learned",
            "constant",
            "varying",
            "robust",
            "auto",
            "",
            "linear",
            "0.5",
            "data.csv",
            "model.npz",
            "nowhere.csv",
            "/",
            ".",
            "0,1",
            "1,0",
            "a,b",
            "<b>",
            "--json",
            "1e-9",
        ]
    ),
    st.text(max_size=6),
)
_TINY = ["--warmup", "10", "--draws", "10", "--chains", "1", "--jobs", "1"]
_OPTIONS = {
    "fit": [
        "--x",
        "--y",
        "--outcome",
        "--exposure",
        "--lengthscale",
        "--noise",
        "--amplitude",
        "--region",
        "--trend",
        "--units-per-lengthscale",
        "--out",
        "--max-time",
        "--thin",
        "--seed",
        "--sampler",
        "--checkpoint-every",
        "--header",
        "--no-header",
        "--drop-missing",
        "--overwrite",
        "--chunked",
        "--quiet",
        "--json",
    ],
    "predict": [
        "--of",
        "--exposure",
        "--coverage",
        "--quantiles",
        "--out",
        "--header",
        "--no-header",
        "--by-position",
        "--digits",
        "--drop-missing",
        "--json",
    ],
    "summary": ["--diagnostics", "--json"],
    "plot": ["--kind", "--out", "--coverage", "--dpi", "--json"],
    "prior": [
        "--lengthscale",
        "--amplitude",
        "--region",
        "--bias",
        "--units-per-lengthscale",
        "--draws",
        "--out",
        "--covariance",
        "--seed",
        "--json",
    ],
    "data": ["--out", "--json"],
    "export": ["--json"],
    "resume": ["--max-time", "--jobs", "--json"],
}
_FLAGS = {
    "--header",
    "--no-header",
    "--drop-missing",
    "--overwrite",
    "--chunked",
    "--quiet",
    "--json",
    "--by-position",
    "--diagnostics",
}
_SANE = {
    "--x": ["x", "1"],
    "--y": ["y", "2"],
    "--outcome": ["real", "binary", "counts", "positive"],
    "--noise": ["varying", "robust", "0.3"],
    "--lengthscale": ["constant", "0.5", "1"],
    "--amplitude": ["1", "learned"],
    "--region": ["-200,200", "0,1"],
    "--trend": ["linear"],
    "--units-per-lengthscale": ["1", "auto"],
    "--out": ["out", "out.csv", "out.png"],
    "--max-time": ["2s", "1"],
    "--thin": ["1"],
    "--seed": ["3"],
    "--sampler": ["collapsed"],
    "--of": ["f", "y"],
    "--coverage": ["0.5"],
    "--quantiles": ["0.1,0.9"],
    "--digits": ["3"],
    "--kind": ["fit", "curves"],
    "--dpi": ["20"],
    "--bias": ["1"],
    "--draws": ["3"],
    "--covariance": ["cov.csv"],
    "--jobs": ["1"],
    "--checkpoint-every": ["0"],
    "--exposure": ["z"],
}


@st.composite
def commands(draw):
    """Arguments of a command: options that are right more often than not."""
    name = draw(
        st.sampled_from(
            ["fit", "fit", "fit", "predict", "predict", "summary", "plot", "prior", "data", "export", "resume"]
        )
    )
    arguments = [name]
    files = {
        "fit": ["data.csv"],
        "predict": ["model.npz", "data.csv"],
        "summary": ["model.npz"],
        "plot": ["model.npz"],
        "export": ["model.npz", "out.nc"],
        "data": ["motorcycle"],
        "resume": ["nowhere"],
        "prior": [],
    }[name]
    arguments += files if draw(st.integers(0, 5)) else [draw(_WORDS)]
    arguments += _TINY if name == "fit" else []
    if name == "prior":
        arguments += ["--lengthscale", "0.5", "--amplitude", "1"]
    for option in draw(st.lists(st.sampled_from(_OPTIONS[name]), max_size=4, unique=True)):
        arguments.append(option)
        if option not in _FLAGS:
            odd = draw(st.integers(0, 2)) == 0 or option not in _SANE
            arguments.append(draw(_WORDS) if odd else draw(st.sampled_from(_SANE[option])))
    if draw(st.integers(0, 19)) == 0:
        arguments.append(draw(_WORDS))
    return [a.replace("\0", "") for a in arguments]
