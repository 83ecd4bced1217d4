// Opens a page of hybrid-convert --to html in a browser without a network and does with it what its user would:
//     node page.js .../node_modules BROWSER PAGE FOLDER [WIDTH HEIGHT [SCHEME]]
// prints what it saw as JSON; screenshots go to FOLDER.
const path = require("path");
const [modules, browser, page, folder, width = "1400", height = "900", colorScheme = "light"] = process.argv.slice(2);
const { chromium } = require(path.join(modules, "playwright-core"));
const saw = { errors: [], requests: [], tables: {} };

async function main() {
	const app = await chromium.launch({
		executablePath: browser, args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
	});
	const context = await app.newContext({ viewport: { width: +width, height: +height }, offline: true, colorScheme });
	const tab = await context.newPage();

	tab.on("console", message => message.type() === "error" && saw.errors.push(message.text()));
	tab.on("pageerror", error => saw.errors.push(String(error)));
	tab.on("dialog", dialog => { saw.errors.push(dialog.message()); dialog.dismiss(); });
	tab.on("request", request => request.url().startsWith("data:") || saw.requests.push(request.url()));
	await tab.goto("file://" + page);
	saw.title = await tab.title();
	if (await tab.isVisible("#error")) {
		saw.failure = await tab.textContent("#error");
		return app.close();
	}
	saw.head = await tab.textContent("header");
	for (const id of ["flame", "reverse"])
		saw[id] = await flame(tab, id);
	await table(tab);
	await timeline(tab);
	await threads(tab);
	await tab.click("#tab-quality");
	saw.quality = await tab.$$eval("#figures tr", rows => Object.fromEntries(
		rows.map(row => [row.cells[1].dataset.name, row.cells[1].textContent])));
	saw.qualityText = await tab.textContent("#quality-text");
	saw.notes = await tab.textContent("#notes");
	saw.license = await tab.textContent("#license");
	await shot(tab, "quality");
	await keys(tab);
	saw.failure = await tab.isVisible("#error");
	saw.injected = await tab.evaluate(() => typeof window.injected);
	await app.close();
}

const shot = (tab, name) => tab.screenshot({ path: path.join(folder, name + ".png") });
const pixels = async frame => (await (await frame.frameElement()).screenshot()).toString("base64");

// What speedscope says of itself, and whether its picture changes by a zoom and comes back.
async function flame(tab, id) {
	await tab.click("#tab-" + id);
	const element = await tab.waitForSelector(`#${id} iframe`);
	const frame = await element.contentFrame();
	await frame.waitForFunction(() => /^(?!speedscope).* - speedscope$/.test(document.title), null, { timeout: 60000 });
	await tab.waitForTimeout(800);
	await shot(tab, id);
	const box = await element.boundingBox(), before = await pixels(frame);
	await tab.mouse.dblclick(box.x + box.width / 8, box.y + 180);
	await tab.waitForTimeout(800);
	const zoomed = await pixels(frame);
	await tab.mouse.move(2, 2);
	await frame.evaluate(() => window.dispatchEvent(new KeyboardEvent("keypress", { key: "0" })));
	await tab.keyboard.press("0");
	await tab.waitForTimeout(800);
	await frame.evaluate(() => window.dispatchEvent(new KeyboardEvent("keypress", { key: "3" })));
	await tab.waitForTimeout(500);
	const sandwich = await frame.evaluate(() => document.body.innerText);
	await shot(tab, id + "-sandwich");
	return { title: await frame.title(), zoomed: before !== zoomed, sandwich };
}

const rows = tab => tab.$$eval("#functions tbody tr", all => all.map(row => [...row.cells].map(cell => [cell.textContent, cell.dataset.value])));

async function table(tab) {
	await tab.click("#tab-table");
	saw.columns = await tab.$$eval("#functions th", all => all.map(cell => cell.textContent));
	saw.tables.first = await rows(tab);
	await shot(tab, "table");
	await tab.click("#functions th:nth-child(1) button");
	saw.tables.byName = await rows(tab);
	await tab.click("#functions th:nth-child(2) button");
	saw.tables.byInclusive = await rows(tab);
	await tab.fill("#search", "WARM");
	saw.tables.searched = await rows(tab);
	saw.found = await tab.textContent("#found");
	await tab.fill("#search", "");
}

async function timeline(tab) {
	await tab.click("#tab-timeline");
	const canvas = await tab.$("#bands canvas");
	if (!canvas || !await canvas.isVisible()) {
		saw.timeline = { none: await tab.textContent("#bands") };
		return;
	}
	const box = await canvas.boundingBox(), all = await tab.textContent("#window");
	saw.timeline = { all, legend: await tab.$$eval("#legend span", spans => spans.map(span => span.textContent)), hover: [] };
	await shot(tab, "timeline");
	for (let row = 0; row < 4; row++) {
		await tab.mouse.move(box.x + box.width * 0.5, box.y + 20 * row + 10);
		saw.timeline.hover.push(await tab.textContent("#under"));
	}
	await tab.click("#zoom-in");
	saw.timeline.zoomed = await tab.textContent("#window");
	await shot(tab, "timeline-zoomed");
	await tab.focus("#bands");
	await tab.keyboard.press("0");
	saw.timeline.back = await tab.textContent("#window");
	await tab.selectOption("#colour", "1");
	saw.timeline.modules = await tab.$$eval("#legend span", spans => spans.map(span => span.textContent));
}

const bars = tab => tab.$$eval("#bars .of", all => all.map(row => [row.children[0].title, Number(row.children[2].dataset.value)]));

async function threads(tab) {
	await tab.click("#tab-threads");
	saw.threads = { totals: await bars(tab) };
	await tab.click("#tab-table");
	await tab.fill("#search", "leaf");
	if (await tab.$("#functions tbody button"))
		await tab.click("#functions tbody button");
	else
		await tab.click("#tab-threads");
	saw.threads.chosen = await tab.$eval("#function", select => select.selectedOptions[0].textContent);
	saw.threads.inclusive = await bars(tab);
	saw.threads.spread = await tab.textContent("#spread");
	await shot(tab, "threads");
}

// Along the tabs without a mouse.
async function keys(tab) {
	await tab.focus("#tab-quality");
	await tab.keyboard.press("ArrowLeft");
	saw.left = await tab.$eval("[aria-selected=true]", element => element.id);
	await tab.keyboard.press("Home");
	saw.home = await tab.$eval("[role=tabpanel]:not([hidden])", element => element.id);
}

main().then(() => console.log(JSON.stringify(saw)), error => {
	console.error(error, JSON.stringify(saw));
	process.exit(1);
});
