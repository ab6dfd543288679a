import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { slackPage } from '@backstop/channels'

/** A page with a message that a receiver got. */
export interface StormPage {
  readonly name: string
  readonly html: string
}

/**
 * Runs 400 unexplained refunds through the product (test/e2e/storm.system-test.ts), and keeps messages that its receivers got.
 * @throws Error if the test fails
 */
export function runStorm(root: string, folder: string): void {
  const env = { ...process.env, BACKSTOP_STORM_MESSAGES: folder }
  const command = [join(root, 'scripts/test.ts'), 'system', 'storm']
  const { status } = spawnSync(process.execPath, command, { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) throw new Error('The storm failed, so there are no messages of it')
}

/** The kept messages as pages: Slack's as the other previews show it, the mail as it is, and the webhook's document. */
export function stormPages(folder: string): StormPage[] {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  return [
    { name: 'storm.slack.burst', html: slackPage(JSON.parse(read('slack-burst.json'))) },
    { name: 'storm.slack.first', html: slackPage(JSON.parse(read('slack-first.json'))) },
    { name: 'storm.slack.last', html: slackPage(JSON.parse(read('slack-last.json'))) },
    { name: 'storm.email.last', html: read('email-last.html') },
    { name: 'storm.webhook', html: documentPage(JSON.parse(read('webhook.json'))) },
  ]
}

function documentPage(document: unknown): string {
  const text = JSON.stringify(document, null, 2).replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Webhook</title><style>:root{color-scheme:light dark}
body{margin:0;padding:20px}pre{margin:0;font:13px/19px monospace;white-space:pre-wrap;overflow-wrap:anywhere}</style></head>
<body><pre>${text}</pre></body></html>
`
}
