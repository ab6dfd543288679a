import { type Process, SERVICES } from '@backstop/contracts'
import { type Finding, finding } from './finding.ts'

export type ProcessFacts = Omit<Process, 'clock_ahead_ms' | 'started_at'>

/** The faults of the processes of all services, as they reported themselves. */
export function judgeProcesses(processes: readonly ProcessFacts[]): Finding[] {
  const alive = processes.filter(({ state }) => state === 'ready' || state === 'not_ready')
  const running = new Set(alive.map(({ service }) => service))
  const missing = SERVICES.filter(service => !running.has(service))
  return [
    ...missing.map(judgeMissingService),
    ...alive.filter(({ state }) => state === 'not_ready').map(judgeUnready),
    ...processes.filter(({ state, service }) => state === 'silent' && running.has(service)).map(judgeSilent),
    ...judgeKeys(alive),
    ...judgeVersions(alive),
  ]
}

function judgeMissingService(service: string): Finding {
  return finding(
    'service_missing',
    `No process of ${service} reports that it runs`,
    'Start it, and look at the end of its log. If its log says processes.not_written, it runs and cannot write to MongoDB; the line says why',
  )
}

function judgeUnready(facts: ProcessFacts): Finding {
  return finding(
    'process_not_ready',
    `${nameOf(facts)} is not ready: ${facts.unready}`,
    'Do what the reason says; the process is ready by itself afterwards, or after a restart if a setting was wrong',
  )
}

function judgeSilent(facts: ProcessFacts): Finding {
  return finding(
    'process_silent',
    `${nameOf(facts)} has not reported since ${facts.reported_at}, and no other process has started in its place`,
    'Look whether it hangs, cannot reach MongoDB, or has ended, and start another one. If it was removed on purpose, wait: it leaves the list after ten minutes',
  )
}

/** Processes with another key under the same id, or without a key that others have, cannot read what the others encrypt. */
function judgeKeys(alive: readonly ProcessFacts[]): Finding[] {
  const keyIds = new Set(alive.flatMap(({ keys }) => keys.map(({ key_id }) => key_id)))
  return [...keyIds].flatMap(keyId => {
    const byKey = Map.groupBy(alive, ({ keys }) => keys.find(({ key_id }) => key_id === keyId)?.fingerprint)
    const lacking = byKey.get(undefined)
    byKey.delete(undefined)
    const [most = [], ...others] = [...byKey.values()].toSorted((a, b) => b.length - a.length)
    return [
      ...others.map(group => judgeKey(group, `has another key under the id "${keyId}" than ${nameAll(most)}`)),
      ...(lacking === undefined ? [] : [judgeKey(lacking, `lacks the key "${keyId}" of ${nameAll(most)}`)]),
    ]
  })
}

function judgeKey(group: readonly ProcessFacts[], what: string): Finding {
  return finding(
    'wrong_secret_key',
    `SECRET_KEYS of ${nameAll(group)} ${what}`,
    'Give every process the same SECRET_KEYS, and restart those that had others. In the middle of a rotation: restart the rest',
  )
}

function judgeVersions(alive: readonly ProcessFacts[]): Finding[] {
  const byVersion = [...Map.groupBy(alive, ({ version }) => version)]
  if (byVersion.length < 2) return []
  const named = byVersion.map(([version, group]) => `${version} (${nameAll(group)})`)
  return [
    finding(
      'versions_differ',
      `Processes have different versions: ${named.join('; ')}`,
      'Usual during an update; afterwards update the rest',
    ),
  ]
}

const nameOf = ({ service, process_id }: ProcessFacts) => `${service} ${process_id}`

function nameAll(processes: readonly ProcessFacts[]): string {
  const more = processes.length > 3 ? ` and ${processes.length - 3} more` : ''
  return `${processes.slice(0, 3).map(nameOf).join(', ')}${more}`
}
