/**
 * Compiles template.mjml (`npm run mail-template`). MJML is a development dependency only (170 packages, 60 MB):
 * production uses the compiled HTML, which is committed. A test compares it with the template.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = new URL('../src/email/', import.meta.url)

type Compile = (source: string, options: object) => Promise<{ html: string; errors: { formattedMessage: string }[] }>

/** Returns the source code of generated/mail-template.ts. */
export async function compileMailTemplate(): Promise<string> {
  // @ts-expect-error: the package has no types
  const { default: compile } = (await import('mjml')) as { default: Compile }
  const source = readFileSync(new URL('template.mjml', FOLDER), 'utf8')
  // MJML's validator rejects placeholders where it expects colours.
  const { html } = await compile(source, { validationLevel: 'skip', keepComments: true, minify: false, fonts: {} })
  const lines = html
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
  if (lines.some(line => /[`\\]|\$\{/.test(line)))
    throw new Error('The template contains characters that end a template literal')
  // A tag stands on one line, and tags of tables without a text between them on the same line. That is shorter, also in each mail.
  const text = lines
    .join('\n')
    .replaceAll(/<(\w+)\n([^<>]+)\n>/g, '<$1 $2>')
    .replaceAll(/(<\/?(?:td|tr|tbody|table|div)\b[^<>]*>)\n(?=<\/?(?:td|tr|tbody|table|div)\b)/g, '$1')
  return `/** Generated from template.mjml by "npm run mail-template"; a test fails if it is out of date. */\nexport const COMPILED_TEMPLATE = \`${text}\n\`\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('generated/mail-template.ts', FOLDER), await compileMailTemplate())
}
