import type { Client } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, addGroup, type Context, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { type Column, tableOf } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop secrets …` */
export function addSecrets(program: Command, surroundings: Surroundings): void {
  const about = 'Show which keys encrypt stored secrets, and encrypt them with the primary key'
  const secrets = addGroup(program, 'secrets', about)
  addCommand(secrets, surroundings, {
    usage: 'status',
    summary: 'Count the stored secrets by the key that encrypts them.',
    examples: ['backstop secrets status'],
    async run({ client }) {
      const status = await client.secretKeys.get()
      return { item: status, text: `Primary key: ${status.primary_key_id}\n${tableOf(COLUMNS, status.keys)}` }
    },
  })
  addCommand(secrets, surroundings, {
    usage: 'rewrap',
    summary: 'Encrypt every stored secret with the primary key. May be interrupted and repeated.',
    examples: ['backstop secrets rewrap'],
    run: rewrap,
  })
}

const COLUMNS: readonly Column<SecretKeys['keys'][number]>[] = [
  { title: 'KEY', of: ({ key_id }) => key_id },
  { title: 'SECRETS', of: ({ secrets }) => secrets },
  { title: 'IN SECRET_KEYS', of: ({ available }) => (available ? 'yes' : 'no') },
]

type SecretKeys = Awaited<ReturnType<Client['secretKeys']['get']>>

async function rewrap({ client, err }: Context): Promise<Printed> {
  let rewrapped = 0
  for (;;) {
    const step = await client.secretKeys.rewrapSecrets()
    rewrapped += step.rewrapped
    const { remaining, unreadable } = step
    if (remaining > 0) err(`${rewrapped} done, ${remaining} remain\n`)
    // Without progress only the unreadable secrets remain.
    if (remaining > 0 && step.rewrapped > 0) continue
    const printed = {
      item: { rewrapped, remaining, unreadable },
      text: `Connections and channels: ${rewrapped} changed, ${remaining} remain\n`,
    }
    if (unreadable.length === 0 && remaining === 0) return printed
    const lines = unreadable.map(({ kind, id, reason }) => `  ${kind} ${id}: ${reason}`)
    const message = `Some secrets cannot be read:\n${lines.join('\n')}`
    return { ...printed, fault: new CommandFault('failed', message, 'Rotate them, or add their key to SECRET_KEYS') }
  }
}
