import { counted } from '../../output/rules/counted.ts'
import { type Finding, finding } from './finding.ts'
import { type ChannelFacts, judgeChannels } from './judge-channels.ts'
import { judgeProcesses, type ProcessFacts } from './judge-processes.ts'

/** What the management API says, as far as doctor judges it. */
export interface ApiFacts {
  /** Every active connection, with the time of its last notification. */
  readonly connections: readonly ConnectionFacts[]
  readonly channels: readonly ChannelFacts[]
  /** The kind of each dead letter; `more` if there are more than were counted. */
  readonly deadLetters: { readonly kinds: readonly string[]; readonly more: boolean }
  readonly secretKeys: readonly { readonly key_id: string; readonly secrets: number; readonly available: boolean }[]
  readonly processes: readonly ProcessFacts[]
}

export interface ConnectionFacts {
  readonly connection_id: string
  readonly name: string
  readonly inbound_url: string
  readonly created_at: string
  readonly reading: { readonly state: string; readonly error: string | null }
  /** Null if there never was one. */
  readonly lastWebhookAt: string | null
  /** Of a card processor that sends thin events: whether one has named the key or the user of its request. Absent for all others. */
  readonly namesClients?: boolean
}

const DAY_MS = 86_400_000

/** The faults that the management API shows. */
export function judgeApi(facts: ApiFacts, nowMs: number): Finding[] {
  return [
    ...judgeProcesses(facts.processes),
    ...facts.connections.flatMap(connection => judgeWebhooks(connection, nowMs)),
    ...facts.connections.flatMap(judgeReading),
    ...facts.connections.flatMap(judgeClients),
    ...judgeChannels(facts.channels, nowMs),
    ...judgeDeadLetters(facts),
    ...facts.secretKeys.flatMap(({ key_id, secrets, available }) =>
      available
        ? []
        : [
            wrongSecretKey(
              `SECRET_KEYS of admin-api lacks the key "${key_id}", which encrypts ${counted(secrets, 'stored secret')}`,
            ),
          ],
    ),
  ]
}

export function wrongSecretKey(what: string): Finding {
  const remedy = 'Put the key that is missing back into SECRET_KEYS of every service, and restart them'
  return finding('wrong_secret_key', what, remedy)
}

function judgeWebhooks(
  { connection_id, name, inbound_url, created_at, lastWebhookAt }: ConnectionFacts,
  nowMs: number,
): Finding[] {
  const silentMs = nowMs - Date.parse(lastWebhookAt ?? created_at)
  if (silentMs < DAY_MS) return []
  const since =
    lastWebhookAt === null
      ? 'never sent a notification'
      : `sent no notification for ${Math.floor(silentMs / 3_600_000)} hours`
  return [
    finding(
      'no_webhook',
      `The provider of ${name} (${connection_id}) ${since}`,
      `Check at the provider that a webhook endpoint with the URL ${inbound_url} is enabled, and whether its deliveries fail; backstop connections show ${connection_id} lists the steps`,
    ),
  ]
}

function judgeReading({ connection_id, name, reading }: ConnectionFacts): Finding[] {
  if (reading.state !== 'failing') return []
  const error = reading.error ?? 'for an unknown reason'
  const what = `The account of ${name} (${connection_id}) cannot be read: ${error}`
  if (!error.includes('refuses the read key')) {
    return [finding('reading_failing', what, 'Do what the error says; reading is tried again by itself')]
  }
  const remedy = `Create a new read-only key at the provider, and store it: backstop connections read-key ${connection_id}`
  return [finding('read_key_rejected', what, remedy)]
}

function judgeClients({ connection_id, name, namesClients }: ConnectionFacts): Finding[] {
  if (namesClients === undefined) return []
  const seen = namesClients ? 'have named the API key or user of a request' : 'have not named an API key or user yet'
  const remedy = namesClients
    ? 'backstop actors list shows them; name them, and set canaries'
    : 'Nothing to do: the provider does not promise to name them. Declare your own software by the prefix of its idempotency keys'
  return [finding('thin_event_clients', `The thin events of ${name} (${connection_id}) ${seen}`, remedy)]
}

function judgeDeadLetters({ deadLetters: { kinds, more } }: ApiFacts): Finding[] {
  if (kinds.length === 0) return []
  const counts = [...Map.groupBy(kinds, kind => kind)].map(
    ([kind, all]) => `${all.length} ${kind.replaceAll('_', ' ')}`,
  )
  return [
    finding(
      'dead_letters',
      `${more ? `${kinds.length} or more dead letters` : counted(kinds.length, 'dead letter')}: ${counts.join(', ')}`,
      'backstop replay dead-letters shows the reasons; remove the causes, then backstop replay dead-letter <id>, or backstop replay all-dead-letters, or backstop replay dismiss <id> for a message that Backstop did not write',
    ),
  ]
}
