/** The lines that `npm start` prints when everything runs. */
import { isAbsolute, relative } from 'node:path'

/** A path for people: relative if it is inside the current folder, otherwise unchanged. */
export function shownPath(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

export interface NextSteps {
  /** A link that signs in to the console once; undefined if the API refused to create it. */
  readonly consoleLink: string | undefined
  readonly hasDemo: boolean
  /** The page of the mail catcher; empty if mails go to a server of the operator. */
  readonly mailUrl: string
  readonly dataDir: string
}

/** What a person can do now, in five lines. run.json has every address and key, and docs/first-steps.md the commands. */
export function nextStepLines({ consoleLink, hasDemo, mailUrl, dataDir }: NextSteps): string[] {
  const folder = shownPath(dataDir)
  const steps = [
    ['Console', consoleLink ?? 'npm run console:open'],
    hasDemo
      ? ['Refund', 'npm run demo:refund', 'one more refund that nothing explains']
      : ['Account', 'README.md', '"Connect a real account"'],
    ['Mail', mailUrl || 'SMTP_URL', 'where the mails of Backstop arrive'],
    ['Tour', 'docs/console.md', 'five minutes in the console; docs/first-steps.md has commands'],
    ['Stop', 'Ctrl-C', `the data, the logs and the API key (run.json) stay in ${folder}/`],
  ]
  return steps.map(([word = '', where = '', text = '']) => `  ${word.padEnd(9)}${where.padEnd(22)}  ${text}`.trimEnd())
}
