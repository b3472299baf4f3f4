// Writes the files of other projects that the web pages use into the folder that is its argument: Leaflet, and the land
// of world-atlas as GeoJSON, with as many decimals as a small map shows. make web-assets runs it.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { feature } from "topojson-client";

const to = process.argv[2];
const from = (path) => join(import.meta.dirname, "node_modules", path);

writeFileSync(join(to, "leaflet.js"), readFileSync(from("leaflet/dist/leaflet.js"), "utf8").replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"));
// The pictures of markers and of the layers' button are not used.
writeFileSync(join(to, "leaflet.css"), readFileSync(from("leaflet/dist/leaflet.css"), "utf8").replace(/background-image: url\([^)]*\);/g, "").replace(/behavior: url\([^)]*\);/g, ""));
copyFileSync(from("leaflet/LICENSE"), join(to, "leaflet.LICENSE.txt"));

const atlas = JSON.parse(readFileSync(from("world-atlas/land-110m.json"), "utf8"));
const land = feature(atlas, atlas.objects.land);
writeFileSync(join(to, "land.json"), JSON.stringify(land, (_, v) => (typeof v === "number" ? Math.round(v * 100) / 100 : v)) + "\n");
writeFileSync(join(to, "world-atlas.LICENSE.txt"), readFileSync(from("world-atlas/LICENSE"), "utf8"));
