"use strict";
/*
 * The page of hybrid-convert --to html. Data stand in elements of JSON; names reach the page as text only.
 * Times are ns. The flame graphs are speedscope's, in a frame that is given its profile as if it were pasted.
 */
(() => {
const get = (id) => document.getElementById(id);

/* What goes wrong in a script, ours or speedscope's, is said: an empty page says nothing. */
function watch(place, what) {
	const say = (reason) => {
		get("error").hidden = false;
		get("error").textContent = `${what} failed: ${reason}`;
	};
	place.addEventListener("error", (event) => say(event.message));
	place.addEventListener("unhandledrejection", (event) => say(event.reason));
}
watch(window, "This page");

const data = JSON.parse(get("data").textContent);

function make(kind, parent, text = "", classes = "") {
	const element = document.createElement(kind);
	element.textContent = text;
	element.className = classes;
	parent.append(element);
	return element;
}

const [unit, unitName] = data.total >= 1e9 ? [1e9, "s"] : data.total >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
const time = (ns) => (ns / unit).toFixed(3);
const timeOf = (ns) => `${time(ns)} ${unitName}`;
const base = (path) => path.slice(path.lastIndexOf("/") + 1);
const share = (part, all) => all > 0 ? 100 * part / all : 0;

/* What names of threads begin with alike says nothing of them, but for the last word of it. */
function alike(names) {
	const first = names[0] ?? "";
	let n = names.length > 1 ? first.length : 0;
	for (const name of names)
		while (!name.startsWith(first.slice(0, n)))
			n--;
	return first.lastIndexOf(" ", first.lastIndexOf(" ", n - 1) - 1) + 1;
}

/* ------------------------------------------------------------------- tabs */

const tabs = [...document.querySelectorAll("[role=tab]")];
const onShow = {};

function show(tab) {
	for (const each of tabs) {
		const chosen = each === tab;
		each.setAttribute("aria-selected", chosen);
		each.tabIndex = chosen ? 0 : -1;
		get(each.getAttribute("aria-controls")).hidden = !chosen;
	}
	onShow[tab.getAttribute("aria-controls")]?.();
}

for (const tab of tabs)
	tab.addEventListener("click", () => show(tab));
get("tabs").addEventListener("keydown", (event) => {
	const at = tabs.indexOf(document.activeElement);
	const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1}[event.key];
	if (at < 0 || to === undefined)
		return;
	event.preventDefault();
	const tab = tabs[(to + tabs.length) % tabs.length];
	tab.focus();
	show(tab);
});

/* ----------------------------------------------------------------- header */

document.title = `${base(data.path)} - hybrid`;
get("title").textContent = data.path;
get("run").textContent = [data.command, data.date, data.host, `${timeOf(data.total)} in all threads`,
	data.waited && `${timeOf(data.waited)} more were waited outside of functions`]
	.filter(Boolean).join(" · ");

/* ----------------------------------------------------------- flame graphs */

const NO_FRAMES = "[no frames]"; /* what was spent outside of all that is known */

/* The profile as it is to be drawn: upside down callers and callees change places. */
function change(text, upsideDown, outside) {
	const file = JSON.parse(text);
	for (const profile of file.profiles) {
		const known = profile.samples.map((s) => file.shared.frames[s[0]].name !== NO_FRAMES);
		const keep = known.map((is) => is || outside || !known.includes(true));
		profile.samples = profile.samples.filter((_, i) => keep[i]);
		profile.weights = profile.weights.filter((_, i) => keep[i]);
		profile.endValue = profile.weights.reduce((a, b) => a + b, 0);
		if (upsideDown)
			profile.samples.forEach((sample) => sample.reverse());
	}
	return JSON.stringify(file);
}

function load(frame, text) {
	const inside = frame.contentWindow, page = frame.contentDocument;
	if (!page.querySelector("canvas")) {
		setTimeout(load, 50, frame, text);
		return;
	}
	watch(inside, "The flame graph");
	const paste = new inside.Event("paste", {bubbles: true, cancelable: true});
	paste.clipboardData = {getData: () => text};
	inside.dispatchEvent(new inside.KeyboardEvent("keypress", {key: "2"})); /* left heavy */
	page.dispatchEvent(paste);
}

function flame(id, upsideDown) {
	const panel = get(id), place = panel.querySelector(".frame");
	const which = panel.querySelector(".which"), outside = panel.querySelector(".outside");
	const draw = () => {
		const frame = document.createElement("iframe");
		frame.title = "speedscope";
		frame.srcdoc = "<!DOCTYPE html><html><head><meta charset=utf-8><link rel=icon href='data:,'><title>speedscope</title><style>" +
			get("viewer-style").textContent + "</style></head><body><script>" +
			get("viewer-script").textContent + "<\/script></body></html>";
		frame.addEventListener("load", () => load(frame, change(get(which.value).textContent, upsideDown, outside.checked)));
		place.replaceChildren(frame);
	};
	make("span", panel.querySelector(".bar"), data.notes.find((note) => note.startsWith("call paths are up to")), "hint");
	if (get("apart"))
		make("option", which, "Each thread apart").value = "apart";
	which.addEventListener("change", draw);
	outside.addEventListener("change", draw);
	onShow[id] = () => place.firstChild || draw();
}
flame("flame", false);
flame("reverse", true);

/* ------------------------------------------------------------------ table */

const functions = data.functions.map((row, index) => ({
	index, name: row[0], module: data.names[row[1]], file: data.names[row[2]], line: row[3],
	probe: row[4] === 2, metrics: row.slice(5 + data.fields.length),
	...Object.fromEntries(data.fields.map((key, i) => [key.replace("_ns", ""), row[5 + i]])),
}));
const number = (n) => n ? n.toLocaleString("en") : "";
const columns = [
	{title: "Function", key: (f) => f.name, text: true},
	...data.fields.filter((key) => !key.startsWith("idle")).flatMap((key) => {
		const name = key.replace("_ns", ""), title = name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
		const column = name === key ? {title, show: number} : {title: `${title} ${unitName}`, show: name === "blocked" || name === "ready" ? (ns) => ns ? time(ns) : "" : time};
		const share_of_all = {title: "Excl. %", key: (f) => f.exclusive + f.blocked - f.idle_alone, show: (ns) => share(ns, data.total).toFixed(1)};
		return [{...column, key: (f) => f[name]}, ...(name === "exclusive" ? [share_of_all] : [])];
	}),
	...data.metrics.flatMap((m, i) => ["inclusive", "exclusive"].map((part, k) => (
		{title: `${m.name} ${part}`, key: (f) => f.metrics[2 * i + k] ?? 0, show: number, optional: true}))),
	{title: "Module", key: (f) => f.module, show: base, text: true, optional: true},
	{title: "File", key: (f) => f.file, show: base, text: true, optional: true},
];
const STEP = 300; /* rows that are shown at once */
let sorted = {column: columns[2], down: true}, limit = STEP;

function fillRow(row, f) {
	for (const column of columns) {
		const value = column.key(f);
		const cell = make("td", row, "", [column.text ? "text" : "", column.optional ? "optional" : ""].join(" "));
		cell.dataset.value = value;
		if (column === columns[0]) {
			cell.classList.add("name");
			cell.style.setProperty("--share", `${share(f.exclusive, data.total)}%`);
			make("button", cell, f.name).addEventListener("click", () => compare(f.index));
			continue;
		}
		cell.textContent = column.show(value) + (column.title === "File" && f.line ? `:${f.line}` : "");
		if (column.text) {
			cell.classList.add("cut");
			cell.title = value;
		}
	}
}

function drawTable() {
	const words = get("search").value.toLowerCase();
	const {key, text} = sorted.column, sign = sorted.down ? -1 : 1;
	const rows = functions.filter((f) => !words || [f.name, f.file, f.module].some((t) => t.toLowerCase().includes(words)));
	rows.sort((a, b) => sign * (text ? key(a).localeCompare(key(b)) : key(a) - key(b)) || a.index - b.index);
	const body = get("functions").tBodies[0];
	body.replaceChildren();
	for (const f of rows.slice(0, limit))
		fillRow(make("tr", body), f);
	get("more").hidden = rows.length <= limit;
	get("found").textContent = `${rows.length} of ${functions.length} functions`;
}

for (const column of columns) {
	const head = make("th", get("functions").tHead.rows[0], "",
		[column.text ? "text" : "", column.optional ? "optional" : ""].join(" "));
	make("button", head, column.title).addEventListener("click", () => {
		sorted = {column, down: sorted.column === column ? !sorted.down : !column.text};
		for (const th of head.parentNode.cells)
			th.removeAttribute("aria-sort");
		head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
		drawTable();
	});
}
get("functions").tHead.rows[0].cells[2].setAttribute("aria-sort", "descending");
get("search").addEventListener("input", () => { limit = STEP; drawTable(); });
get("more").addEventListener("click", () => { limit += STEP; drawTable(); });
onShow.table = () => get("functions").tBodies[0].rows.length || drawTable();

/* ---------------------------------------------------------------- threads */

const threads = data.locations;
const CHOICES = 500;

function addChoice(index) {
	const option = make("option", get("function"), functions[index].name);
	option.value = index;
}

function drawThreads() {
	const chosen = get("function").value;
	const values = chosen === "" ? threads.totals : threads[get("which-time").value][chosen];
	const all = values.reduce((a, b) => a + b, 0), most = values.reduce((a, b) => Math.max(a, b), 0);
	const mean = all / (values.length || 1);
	const deviation = Math.sqrt(values.reduce((a, v) => a + (v - mean) ** 2, 0) / (values.length || 1));
	get("spread").textContent = `max ${timeOf(most)} · mean ${timeOf(mean)} · standard deviation ` +
		`${timeOf(deviation)} · imbalance ${share(most - mean, mean).toFixed(1)} % (max above mean)`;
	const skip = alike(threads.names);
	get("bars").replaceChildren();
	const order = values.map((_, i) => i).sort((a, b) => threads.names[a].localeCompare(threads.names[b], "en", {numeric: true}));
	for (const i of order) {
		const row = make("div", get("bars"), "", "of");
		make("b", row, threads.names[i].slice(skip)).title = threads.names[i];
		make("i", row).style.setProperty("--share", `${share(values[i], most)}%`);
		make("span", row, timeOf(values[i])).dataset.value = values[i];
	}
}

/* Shows how a function is spread over threads. */
function compare(index) {
	if (!threads.inclusive[index])
		return;
	if (![...get("function").options].some((option) => option.value === `${index}`))
		addChoice(index);
	get("function").value = index;
	drawThreads();
	show(get("tab-threads"));
}

make("option", get("function"), "everything").value = "";
for (let i = 0; i < Math.min(CHOICES, threads.inclusive.length); i++)
	addChoice(i);
get("function").addEventListener("change", drawThreads);
get("which-time").addEventListener("change", drawThreads);
onShow.threads = () => get("bars").firstChild || drawThreads();

/* --------------------------------------------------------------- timeline */

const COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#ff9da7", "#6b8e23", "#1f9fd1"];
const OTHERS = "#8a8d91", NOWHERE = "#8a8d9144";
const line = data.timeline;
const ROW = 20;

/* Runs of bins as the bins where they begin. */
function unpack(row) {
	const count = row.runs.length / 2, starts = new Uint32Array(count + 1), what = new Uint32Array(count);
	for (let i = 0; i < count; i++) {
		starts[i + 1] = starts[i] + row.runs[2 * i];
		what[i] = row.runs[2 * i + 1];
	}
	return {name: row.name, starts, what, count};
}

function timeline() {
	const rows = line.rows.map(unpack).sort((a, b) => a.name.localeCompare(b.name, "en", {numeric: true}));
	const bands = get("bands"), canvas = bands.querySelector("canvas"), pen = canvas.getContext("2d");
	const all = {from: 0, to: line.length / line.width};
	const skip = alike(rows.map((row) => row.name));
	let view = {...all}, colours = [], drag = null;
	const gutter = () => Math.min(260, bands.clientWidth / 4);
	const groupOf = (f, by) => by ? base(f[1]) || "[no module]" : f[0];

	function colour() {
		const by = Number(get("colour").value), sums = new Map();
		for (const row of rows)
			for (let i = 0; i < row.count; i++) {
				const f = line.functions[row.what[i]];
				if (f)
					sums.set(groupOf(f, by), (sums.get(groupOf(f, by)) ?? 0) + row.starts[i + 1] - row.starts[i]);
			}
		const top = [...sums].sort((a, b) => b[1] - a[1]).slice(0, COLOURS.length).map(([name]) => name);
		const own = new Map(top.map((name, i) => [name, COLOURS[i]]));
		colours = line.functions.map((f) => f ? own.get(groupOf(f, by)) ?? OTHERS : NOWHERE);
		get("legend").replaceChildren();
		for (const [name, hue] of [...own, ...(sums.size > top.length ? [["others", OTHERS]] : [])])
			make("span", get("legend"), name).style.setProperty("--mine", hue);
	}

	function drawRow(row, y, left, scale) {
		let i = find(row, view.from);
		for (; i < row.count && row.starts[i] < view.to; i++) {
			if (!row.what[i])
				continue;
			const from = left + Math.max(0, row.starts[i] - view.from) * scale;
			const to = left + (Math.min(view.to, row.starts[i + 1]) - view.from) * scale;
			pen.fillStyle = colours[row.what[i]];
			pen.fillRect(from, y + 2, Math.max(to - from, 0.5), ROW - 4);
		}
	}

	function draw() {
		const width = bands.clientWidth, height = bands.clientHeight, dots = devicePixelRatio || 1;
		const left = gutter(), scale = (width - left) / (view.to - view.from);
		canvas.width = width * dots;
		canvas.height = height * dots;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
		get("height").style.height = `${Math.max(0, rows.length * ROW - height)}px`;
		pen.scale(dots, dots);
		pen.font = "12px system-ui, sans-serif";
		pen.textBaseline = "middle";
		const first = Math.floor(bands.scrollTop / ROW);
		for (let i = first; i < rows.length && (i - first - 1) * ROW < height; i++) {
			const y = i * ROW - bands.scrollTop;
			drawRow(rows[i], y, left, scale);
			pen.fillStyle = getComputedStyle(document.body).color;
			pen.save();
			pen.beginPath();
			pen.rect(0, y, left - 4, ROW);
			pen.clip();
			pen.fillText(rows[i].name.slice(skip), 8, y + ROW / 2);
			pen.restore();
		}
		get("window").textContent = `${timeOf(view.from * line.width)} to ${timeOf(view.to * line.width)}, bins of ` +
			`${(line.width / 1e3).toLocaleString("en", {maximumFractionDigits: 1})} µs`;
	}

	/* The run that has the bin. */
	function find(row, bin) {
		let low = 0, high = row.count;
		while (low + 1 < high) {
			const middle = (low + high) >> 1;
			if (row.starts[middle] <= bin)
				low = middle;
			else
				high = middle;
		}
		return low;
	}

	function look(from, to) {
		const size = Math.min(Math.max(to - from, 10), all.to);
		const start = Math.min(Math.max(from, 0), all.to - size);
		view = {from: start, to: start + size};
		draw();
	}
	const binAt = (x) => view.from + (x - gutter()) / (bands.clientWidth - gutter()) * (view.to - view.from);
	const zoom = (factor, at = (view.from + view.to) / 2) =>
		look(at - (at - view.from) * factor, at + (view.to - at) * factor);
	const pan = (part) => look(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

	function describe(event) {
		const row = rows[Math.floor((event.offsetY + bands.scrollTop) / ROW)], bin = binAt(event.offsetX);
		const i = row && find(row, bin);
		if (!row || bin < view.from || bin >= row.starts[row.count]) {
			get("under").textContent = "\u00a0";
			return;
		}
		const f = line.functions[row.what[i]];
		get("under").textContent = [row.name, timeOf(bin * line.width),
			f ? f[0] : row.what[i] ? "in no function" : "not there", f && base(f[1]),
			`for ${timeOf((row.starts[i + 1] - row.starts[i]) * line.width)}`].filter(Boolean).join(" · ");
	}

	canvas.addEventListener("pointermove", (event) => {
		describe(event);
		if (!drag)
			return;
		const bins = (drag.x - event.offsetX) / (bands.clientWidth - gutter()) * (view.to - view.from);
		look(drag.view.from + bins, drag.view.to + bins);
	});
	canvas.addEventListener("pointerdown", (event) => {
		drag = {x: event.offsetX, view};
		canvas.setPointerCapture(event.pointerId);
	});
	for (const end of ["pointerup", "pointercancel"])
		canvas.addEventListener(end, () => { drag = null; });
	canvas.addEventListener("dblclick", (event) => zoom(0.25, binAt(event.offsetX)));
	canvas.addEventListener("wheel", (event) => {
		if (!event.ctrlKey && !event.shiftKey && rows.length * ROW > bands.clientHeight)
			return; /* scrolls */
		event.preventDefault();
		zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, binAt(event.offsetX));
	}, {passive: false});
	bands.addEventListener("keydown", (event) => {
		const act = {"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => look(0, all.to),
			ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2)}[event.key];
		if (act) {
			event.preventDefault();
			act();
		}
	});
	bands.addEventListener("scroll", draw);
	get("zoom-in").addEventListener("click", () => zoom(0.5));
	get("zoom-out").addEventListener("click", () => zoom(2));
	get("zoom-all").addEventListener("click", () => look(0, all.to));
	get("colour").addEventListener("change", () => { colour(); draw(); });
	new ResizeObserver(() => get("timeline").hidden || draw()).observe(bands);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	colour();
	onShow.timeline = draw;
	draw();
}

onShow.timeline = line ? timeline : () => {
	get("bands").textContent = "There is no trace, only a profile: measure again with samples (hybrid-run -r 1000), or with --trace.";
};

/* ---------------------------------------------------------------- quality */

function figures(value, name) {
	if (value !== null && typeof value === "object") {
		for (const key of Object.keys(value))
			figures(value[key], name ? `${name} ${key}` : key);
		return;
	}
	const row = make("tr", get("figures").tBodies[0]);
	make("td", row, name.replaceAll("_", " "));
	make("td", row, typeof value === "number" ? value.toLocaleString("en") : String(value)).dataset.name = name;
}

get("quality-text").textContent = data.quality_text ?? "";
figures(data.quality ?? {}, "");
for (const note of data.notes.length ? data.notes : ["Nothing is left out."])
	make("li", get("notes"), note);

show(tabs[0]);
})();
