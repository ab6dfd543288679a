import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PartProgram } from '../embedded-part.ts'

export interface MailSettings {
  dir: string
  smtpPort: number
  webPort: number
}

/** MailDev: accepts every mail, delivers none, and shows them on a web page and under GET /api/email. */
export function mailProgram({ dir, smtpPort, webPort }: MailSettings): PartProgram {
  const mailDir = join(dir, 'mails')
  return {
    name: 'mail',
    title: 'MailDev 3.0.0',
    program: process.execPath,
    args: [
      fileURLToPath(new URL('./bin/maildev.js', import.meta.resolve('maildev'))),
      ...['--smtp', String(smtpPort), '--ip', '127.0.0.1', '--web', String(webPort), '--web-ip', '127.0.0.1'],
      ...['--mail-directory', mailDir, '--max-emails', '1000'],
    ],
    marker: mailDir,
    cwd: dir,
    readyWithinMs: 60_000,
    files: {},
    prepare: async () => {
      mkdirSync(mailDir, { recursive: true })
    },
    async checkReady() {
      const response = await fetch(`http://127.0.0.1:${webPort}/api/healthz`, { signal: AbortSignal.timeout(2000) })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`The mail page answered ${response.status}`)
    },
  }
}
