// Reads files by the importer of speedscope (npm), which knows its own format and those of others:
//     node speedscope.js .../node_modules FILE...
// prints what it made of each as a line of JSON. The version that still has its importer apart is used.
const fs = require("fs"), path = require("path"), vm = require("vm");

const folder = path.join(process.argv[2], "speedscope-importer/dist/release");
const scripts = fs.readdirSync(folder).filter(name => /^(speedscope|import)\..*\.js$/.test(name));
for (const name of scripts.sort().reverse()) {
	// The application's modules, of which nothing is to start.
	const text = fs.readFileSync(path.join(folder, name), "utf8");
	vm.runInThisContext(text.replace(/\},\{\},\[[^\]]*\], null\)/, "},{},[], null)"), { filename: name });
}
const modules = parcelRequire.modules;
const importer = Object.keys(modules).find(id => /exports\.importProfilesFromArrayBuffer\s*=/.test(modules[id][0]));
console.log = () => {};
console.warn = text => { throw new Error(text); };

function describe(profile) {
	const functions = [], stacks = [];
	let stack = [], last = 0;
	profile.forEachFrame(frame => functions.push({
		name: frame.name, file: frame.file, line: frame.line,
		own: frame.getSelfWeight(), all: frame.getTotalWeight(),
	}));
	const keep = value => {
		if (value > last) stacks.push([stack.join("\0"), value - last]);
		last = value;
	};
	profile.forEachCall(
		(node, value) => { keep(value); stack.push(node.frame.name); },
		(node, value) => { keep(value); stack.pop(); });
	return {
		name: profile.getName(), total: profile.getTotalWeight(), unit: profile.getWeightUnit(), functions,
		stacks: stacks.map(([names, weight]) => [names.split("\0"), weight]),
	};
}

(async () => {
	for (const file of process.argv.slice(3)) {
		const bytes = fs.readFileSync(file);
		const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
		const group = await parcelRequire(importer).importProfilesFromArrayBuffer(path.basename(file), buffer);
		const result = group && { name: group.name, profiles: group.profiles.map(describe) };
		process.stdout.write(JSON.stringify(result) + "\n");
	}
})().catch(error => { process.stderr.write(error.stack + "\n"); process.exit(1); });
