import type { Command } from 'commander'
import { addCommand, addGroup } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import { tableOf } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop secrets …` */
export function addSecrets(program: Command, surroundings: Surroundings): void {
  const secrets = addGroup(
    program,
    'secrets',
    'Show which keys encrypt stored secrets, and encrypt them with the primary key',
  )
  addCommand(
    secrets,
    'status',
    'Count the stored secrets by the key that encrypts them.',
    'backstop secrets status',
  ).action(async (options: JsonOption) => {
    const status = await openClient(surroundings).secretKeys.get()
    const table = tableOf(
      [
        { title: 'KEY', of: ({ key_id }) => key_id },
        { title: 'SECRETS', of: ({ secrets }) => secrets },
        { title: 'IN SECRET_KEYS', of: ({ available }) => (available ? 'yes' : 'no') },
      ],
      status.keys,
    )
    printItem(status, `Primary key: ${status.primary_key_id}\n${table}`, options, surroundings)
  })
  addCommand(
    secrets,
    'rewrap',
    'Encrypt every stored secret with the primary key. May be interrupted and repeated.',
    'backstop secrets rewrap',
  ).action(async (options: JsonOption) => {
    const client = openClient(surroundings)
    let rewrapped = 0
    for (;;) {
      const step = await client.secretKeys.rewrapSecrets()
      rewrapped += step.rewrapped
      if (step.remaining > 0) surroundings.err(`${rewrapped} done, ${step.remaining} remain\n`)
      // Without progress only the unreadable secrets remain.
      if (step.remaining > 0 && step.rewrapped > 0) continue
      const { remaining, unreadable } = step
      const text = `Connections and channels: ${rewrapped} changed, ${remaining} remain\n`
      printItem({ rewrapped, remaining, unreadable }, text, options, surroundings)
      if (unreadable.length === 0 && remaining === 0) return
      const lines = unreadable.map(({ kind, id, reason }) => `  ${kind} ${id}: ${reason}`)
      throw new CommandFault(
        'failed',
        `Some secrets cannot be read:\n${lines.join('\n')}`,
        'Rotate them, or add their key to SECRET_KEYS',
      )
    }
  })
}
