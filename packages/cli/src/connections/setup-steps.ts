import type { Connection } from '@backstop/client'
import { type SetupStep, type ShownOnce, setupSteps } from '@backstop/client/setup-steps'

type Named = Pick<Connection, 'connection_id' | 'kind' | 'inbound_url' | 'has_read_key'>

/** The steps at the provider that complete a connection, with the commands that store what the provider shows. */
export function setupText(connection: Named, secrets: ShownOnce = {}): string {
  return setupSteps(connection, secrets)
    .map((step, at) => `  ${at + 1}. ${stepText(step, connection.connection_id)}\n`)
    .join('')
}

function stepText(step: SetupStep, connectionId: string): string {
  const { id, text, copy, note, isStored } = step
  if (id === 'test') return `${text}. It is in  backstop incidents list  about a minute later.`
  const command = id === 'secret' ? 'secret' : 'read-key'
  const mark = isStored ? `:  backstop connections ${command} ${connectionId}` : copy.length > 0 ? ':' : '.'
  const lines = [...(note === undefined ? [] : [`     ${note}`]), ...copy.map(each => `       ${each}`)]
  return [`${text}${mark}`, ...lines].join('\n')
}
