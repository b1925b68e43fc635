// The report's page in headless Chromium; called by .ci/browser. Each test says what holds; the first that does not ends the run.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

const { BOOK, SHOTS } = process.env;
// Without a report, the book alone.
const page_file = process.argv[2] && path.resolve(process.argv[2]);
let passed = 0;

const open = async (browser, file, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("console", message => { if (["error", "warning"].includes(message.type())) errors.push(message.text()); });
  page.on("pageerror", error => errors.push(String(error)));
  page.on("request", request => { if (!/^(file|data):/.test(request.url())) errors.push("asks for " + request.url()); });
  await page.goto(pathToFileURL(file).href);
  return { page, errors, close: () => context.close() };
};
const shot = async (page, name) => { if (SHOTS) await page.screenshot({ path: path.join(SHOTS, name + ".png") }); };
const test = async (name, body) => {
  await body();
  passed += 1;
  console.log("ok: " + name);
};

const column = (table, number) => table.evaluate((table, number) =>
  [...table.tBodies[0].rows].map(row => row.cells[number].dataset.value ?? row.cells[number].textContent.trim()), number);

/** The first figure of the page whose panel has a curve of several points. */
const figureWithCurves = page => page.locator("section > figure").filter({ has: page.locator(".series[data-points*=' ']") }).first();

async function tables(browser) {
  const { page, errors, close } = await open(browser, page_file);
  await test("the page opens without errors, and with the scoreboard", async () => {
    assert.match(await page.locator("section").first().innerText(), /reproduced/i);
    assert.deepEqual(errors, []);
    await shot(page, "report-light");
  });
  const table = page.locator("table").filter({ has: page.locator("th", { hasText: /^Ours$/ }) })
    .filter({ has: page.locator("tbody tr:nth-child(6)") }).locator("visible=true").first();
  await table.scrollIntoViewIfNeeded();
  const heads = await table.locator("th").allInnerTexts();
  const ours = heads.indexOf("Ours");
  await test("a table sorts by a column, up, down and back", async () => {
    const before = await column(table, ours);
    const numbers = list => list.map(Number).filter(value => !Number.isNaN(value));
    const up = [...numbers(before)].sort((a, b) => a - b);
    const click = () => table.locator("th").nth(ours).locator("button").click();
    await click();
    assert.deepEqual(numbers(await column(table, ours)), up);
    assert.equal(await table.locator("th").nth(ours).getAttribute("aria-sort"), "ascending");
    await click();
    assert.deepEqual(numbers(await column(table, ours)), [...up].reverse());
    await click();
    assert.deepEqual(await column(table, ours), before);
    assert.notDeepEqual(numbers(before), up, "the table was sorted before: the test shows nothing");
  });
  await test("a table is filtered by words", async () => {
    const all = await table.locator("tbody tr").count();
    const input = table.locator("xpath=../preceding-sibling::label[1]").locator("input");
    // A word of some rows, not of all.
    const texts = (await table.locator("tbody tr").allInnerTexts()).map(text => text.toLowerCase());
    const word = texts.flatMap(text => text.match(/[a-z]{3,}/g) ?? []).find(word => !texts.every(text => text.includes(word)));
    await input.fill(word);
    const shown = await table.locator("tbody tr:not([hidden])").allInnerTexts();
    assert.equal(shown.length, texts.filter(text => text.includes(word)).length);
    assert.ok(shown.length > 0 && shown.length < all && shown.every(text => text.toLowerCase().includes(word)), word);
    await input.fill("");
    assert.equal(await table.locator("tbody tr:not([hidden])").count(), all);
  });
  await test("a number leads to its run, and opens what is folded around it", async () => {
    const link = table.locator("td.own a").first();
    const place = (await link.getAttribute("href")).slice(1);
    await link.click();
    assert.ok(await page.locator(`[id="${place}"]`).isVisible());
  });
  await close();
}

async function curves(browser) {
  const { page, errors, close } = await open(browser, page_file);
  await test("every curve has a name, and every figure of the page its own drawing", async () => {
    const names = await page.locator("svg .series").evaluateAll(all => all.map(one => one.querySelector("title")?.textContent));
    assert.ok(names.length > 10 && names.every(name => name), `${names.length} curves`);
  });
  const figure = figureWithCurves(page);
  await figure.scrollIntoViewIfNeeded();
  const curve = figure.locator(".series[data-points*=' ']").first();
  const name = await curve.getAttribute("data-name");
  await test("the pointer on a curve shows its name and numbers", async () => {
    const at = await curve.evaluate(part => {
      // A point in the middle of the curve, on the screen.
      const path = part.querySelector("path");
      const point = path.getPointAtLength(0).matrixTransform(path.getScreenCTM());
      return { x: point.x, y: point.y };
    });
    await page.mouse.move(at.x, at.y);
    const tip = await page.locator(".tip").innerText();
    const [x, y] = (await curve.getAttribute("data-points")).split(" ")[0].split(",");
    assert.ok(tip.includes(`: ${y}`) && tip.includes(`: ${x}`), tip);
    await shot(page, "report-hover");
    await page.mouse.move(2, 2);
    assert.equal(await page.locator(".tip").innerText(), "");
  });
  await test("a run is hidden by its entry in the legend, by pointer and by key, and stays hidden after a reload", async () => {
    const entry = figure.locator(`.entry[data-name="${name}"]`);
    await entry.click();
    assert.ok(!(await curve.isVisible()));
    assert.equal(await entry.getAttribute("aria-pressed"), "false");
    await page.reload();
    assert.ok(!(await curve.isVisible()));
    await entry.focus();
    await page.keyboard.press("Enter");
    assert.ok(await curve.isVisible());
  });
  await test("no errors after all this", async () => assert.deepEqual(errors, []));
  await close();
}

async function looks(browser) {
  const luminance = colour => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
    return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
  };
  const colours = page => page.evaluate(() => {
    const of = (part, key) => getComputedStyle(part)[key];
    const svg = document.querySelector("figure svg");
    return [of(document.body, "backgroundColor"), of(document.body, "color"), of(svg.querySelector(".paper"), "fill"),
      of(svg.querySelector("text"), "fill"), of(svg.querySelector(".c0"), "stroke")];
  });
  await test("dark mode: light text and curves on dark paper, in the figures too", async () => {
    const { page, errors, close } = await open(browser, page_file, { colorScheme: "dark" });
    const [paper, ink, drawing, text, line] = (await colours(page)).map(luminance);
    assert.ok(paper < 0.2 && drawing < 0.2 && ink > 0.7 && text > 0.7 && line > 0.7, `${[paper, ink, drawing, text, line]}`);
    await figureWithCurves(page).scrollIntoViewIfNeeded();
    await shot(page, "report-dark");
    assert.deepEqual(errors, []);
    await close();
  });
  await test("print: dark ink on white, folded parts open, no fields", async () => {
    const { page, close } = await open(browser, page_file, { colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const [paper, ink, , text] = (await colours(page)).map(luminance);
    assert.ok(paper > 0.9 && ink < 0.3 && text < 0.3);
    assert.equal(await page.locator(".filter:visible").count(), 0);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.locator("details:not([open])").count(), 0);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 10000);
    if (SHOTS) fs.writeFileSync(path.join(SHOTS, "report.pdf"), pdf);
    await close();
  });
  await test("a telephone: the page is not wider than the screen, tables and figures scroll by themselves", async () => {
    const { page, errors, close } = await open(browser, page_file, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 361, `${wide} pixels`);
    await figureWithCurves(page).scrollIntoViewIfNeeded();
    await shot(page, "report-telephone");
    assert.deepEqual(errors, []);
    await close();
  });
}

async function watched(browser) {
  await test("a page that is written again shows the new content by itself, and is loaded no more once the run has ended", async () => {
    const folder = fs.mkdtempSync(path.join(require("node:os").tmpdir(), "watched-"));
    const file = path.join(folder, "report.html");
    // As `report --watch` writes it: into another file, then renamed. Only a run that goes on asks to be loaded again.
    const write = (word, refresh) => {
      const text = fs.readFileSync(page_file, "utf8").replace("<meta name=\"viewport\"", found => refresh + found).replace("<h1>", `<h1>${word} `);
      fs.writeFileSync(file + ".new", text);
      fs.renameSync(file + ".new", file);
    };
    const refresh = '<meta http-equiv="refresh" content="1">';
    write("first", refresh);
    const { page, errors, close } = await open(browser, file);
    const title = page.locator("h1").first();
    assert.match(await title.innerText(), /^first/);
    write("second", refresh);
    await title.filter({ hasText: /^second/ }).waitFor({ timeout: 30000 });
    write("last", "");
    await title.filter({ hasText: /^last/ }).waitFor({ timeout: 30000 });
    await page.waitForLoadState("load");
    let loads = 0;
    page.on("load", () => { loads += 1; });
    await page.waitForTimeout(2500);
    assert.equal(loads, 0);
    assert.deepEqual(errors, []);
    await close();
    fs.rmSync(folder, { recursive: true });
  });
}

async function book(browser) {
  const pages = ["index.html", "methods/choosing.html", "methods/foundations.html", "start/reproduce.html", "add/estimator.html"];
  for (const [look, options] of [["light", { colorScheme: "light" }], ["dark", { colorScheme: "dark" }],
    ["telephone", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }]]) {
    await test(`the book, ${look}: no errors, no request outside, formulas drawn, no wider than the screen`, async () => {
      for (const name of pages) {
        const { page, errors, close } = await open(browser, path.join(BOOK, name), options);
        const [wide, screen] = await page.evaluate(() => [document.querySelector("main").getBoundingClientRect().right, innerWidth]);
        assert.ok(wide <= screen + 1, `${name}: ${wide} of ${screen}`);
        if (name.endsWith("foundations.html")) assert.ok(await page.locator("math").count() > 5);
        const images = await page.locator("main img").evaluateAll(all => all.every(one => one.complete && one.naturalWidth > 0));
        assert.ok(images, `${name}: an image is missing`);
        assert.deepEqual(errors, [], name);
        await shot(page, `book-${look}-${path.basename(name, ".html")}`);
        await close();
      }
    });
  }
}

(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  try {
    if (page_file) {
      await tables(browser);
      await curves(browser);
      await looks(browser);
      await watched(browser);
    }
    if (BOOK) await book(browser);
  } finally {
    await browser.close();
  }
  console.log(`${passed} passed, 0 failed`);
})().catch(error => {
  console.error(error);
  console.log(`${passed} passed, 1 failed`);
  process.exit(1);
});
