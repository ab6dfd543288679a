import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  answerWords,
  CompletenessExport,
  completenessFacts,
  interruptionWords,
  limitWords,
  outageWords,
  type ShownValues,
  showableText,
} from '@backstop/contracts'
import type { Command } from 'commander'
import { readPublicKeys, readSigned } from '../audit/verify-export.ts'
import { addCommand, addGroup, given, requiredOption } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { factsOf, shownTime } from '../output/table.ts'
import { readIsoTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'

interface ShowOptions {
  readonly from?: string
  readonly to?: string
  readonly signed?: string
}

const SHOWN: ShownValues = { time: shownTime, count: String }

/** `backstop completeness …` */
export function addCompleteness(program: Command, surroundings: Surroundings): void {
  const group = addGroup(program, 'completeness', 'State whether every refund and cancellation was read and judged')
  addCommand(group, surroundings, {
    usage: 'show <id>',
    summary:
      'Show the statement of a connection or of all connections of a project, or write it with a signature to a file.',
    examples: [
      'backstop completeness show con_0123 --from 1d',
      'backstop completeness show prj_0123 --from 2026-07-01 --to 2026-10-01 --signed third-quarter.json',
    ],
    options: [
      ['--from <time>', 'first day in UTC: 2026-07-01, or an age such as 7d; 30 days ago by default'],
      ['--to <time>', 'the day after the last one; the end of today by default'],
      ['--signed <file>', 'write the statement in words with a signature to this file'],
    ],
    async run({ client, folder, now }, { from, to, signed }: ShowOptions, id) {
      const times = { from: readIsoTime('--from', from, now()), to: readIsoTime('--to', to, now()) }
      const query = given({ ...(id.startsWith('prj_') ? { project_id: id } : { connection_id: id }), ...times })
      if (signed !== undefined) {
        const item = await client.completeness.export(query)
        writeFileSync(resolve(folder, signed), `${JSON.stringify(item, undefined, 2)}\n`)
        return { item, text: `Wrote ${signed}\n` }
      }
      const whole = await client.completeness.get(query)
      const accounts = whole.connections.map(one =>
        accountText(one.connection_name, {
          answer: answerWords(one, SHOWN),
          facts: completenessFacts(one, SHOWN),
          interruptions: interruptionWords(one, SHOWN),
          limits: limitWords(one, SHOWN),
        }),
      )
      return { item: whole, text: [...accounts, `${outageWords(whole, SHOWN).join('\n')}\n`].join('\n') }
    },
  })
  addCommand(group, surroundings, {
    usage: 'verify <file>',
    summary: 'Verify the signature of a statement and show it, without the management API.',
    examples: ['backstop completeness verify third-quarter.json --public-key audit.pem'],
    options: [requiredOption('--public-key <file>', 'what `backstop audit public-key` printed', String)],
    async run({ folder }, { publicKey }: { readonly publicKey: string }, file) {
      const keys = readPublicKeys(readFileSync(resolve(folder, publicKey), 'utf8'))
      const text = readFileSync(resolve(folder, file), 'utf8')
      const statement = readSigned(text, keys, CompletenessExport.shape.statement)
      if (statement === undefined) {
        const remedy = 'Ask for another export, and compare the public key with the one that was kept'
        throw new CommandFault('failed', 'The statement has no valid signature of this public key', remedy)
      }
      const { title, project, period, made, outages, accounts } = statement
      const about = factsOf([
        ['Title', title],
        ['Project', project],
        ['Period', period],
        ['Made', made],
      ])
      const shown = accounts.map(({ account, ...one }) => accountText(account, one))
      return {
        item: statement,
        text: [`The signature is valid.\n\n${about}`, ...shown, `${outages.join('\n')}\n`].join('\n'),
      }
    },
  })
}

type Words = Pick<CompletenessExport['statement']['accounts'][number], 'answer' | 'facts' | 'interruptions' | 'limits'>

function accountText(name: string, { answer, facts, interruptions, limits }: Words): string {
  const lines = [answer, ...interruptions, ...limits].map(line => `${showableText(line)}\n`)
  return `${showableText(name)}\n${lines.join('')}${factsOf(facts.map(({ label, value }) => [label, value]))}`
}
