import { counted } from '../../output/rules/counted.ts'
import { type Finding, finding } from './finding.ts'

/** `npx node` is the Node.js of package.json: the one of the system may be too old to run TypeScript. */
const PROVISION =
  'Run the deploy job again. In a clone: npx node packages/provision/src/main.ts, with KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, MONGO_URL, MONGO_DB, SCHEMA_REGISTRY_URL = kafka, topic_prefix, mongo, database, registry of .backstop/run.json'

export function judgeMissing(
  code: 'topic_missing' | 'schema_missing' | 'index_missing',
  missing: readonly string[],
): Finding[] {
  if (missing.length === 0) return []
  const named = missing.slice(0, 5).join(', ')
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : ''
  return [finding(code, `Missing: ${named}${more}`, PROVISION)]
}

/** Messages that a consumer has not processed, although they are older than `age`. */
export interface Lag {
  readonly groupId: string
  readonly topic: string
  readonly messages: bigint
}

export function judgeLag(lags: readonly Lag[], ageMs: number): Finding[] {
  return lags
    .filter(({ messages }) => messages > 0n)
    .map(({ groupId, topic, messages }) =>
      finding(
        'consumer_lag',
        `${groupId} has not processed ${counted(Number(messages), 'message')} of ${topic} older than ${ageMs / 1_000} s`,
        `Check that ${groupId.includes('notifier') ? 'the notifier' : 'the reconciler'} runs and what it logs; if it is only too slow, start more replicas`,
      ),
    )
}

/** The clock of another host. `aheadMs` is how far it is ahead of this machine, with an error of at most `errorMs`. */
export interface ClockReading {
  readonly host: string
  readonly aheadMs: number
  readonly errorMs: number
}

/** As in the services, which warn beyond two seconds. */
const CLOCK_LIMIT_MS = 2_000

/** One finding about all clocks that differ by more than two seconds from this machine's. */
export function judgeClocks(readings: readonly ClockReading[]): Finding[] {
  const apart = readings.filter(({ aheadMs, errorMs }) => Math.abs(aheadMs) - errorMs > CLOCK_LIMIT_MS)
  if (apart.length === 0) return []
  const named = apart.map(({ host, aheadMs }) => `${host} is ${seconds(aheadMs)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`)
  const who = apart.length > 1 && apart.length === readings.length ? ', so probably this machine is wrong' : ''
  const remedy = 'Synchronise the clock of every host with NTP, e.g. timedatectl set-ntp true'
  return [finding('clock_offset', `Clocks differ from that of this machine: ${named.join(', ')}${who}`, remedy)]
}

const seconds = (ms: number) => (Math.abs(ms) / 1_000).toFixed(1)

export interface DiskUse {
  readonly host: string
  readonly usedBytes: number
  readonly totalBytes: number
}

export function judgeDisk({ host, usedBytes, totalBytes }: DiskUse, limit: number): Finding[] {
  if (totalBytes <= 0 || usedBytes / totalBytes < limit) return []
  const percent = Math.floor((usedBytes / totalBytes) * 100)
  const freeGiB = ((totalBytes - usedBytes) / 2 ** 30).toFixed(1)
  const remedy = 'Enlarge the disk, or free space on it; MongoDB stops taking writes when it is full'
  return [finding('disk_full', `The disk of ${host} is ${percent} % full, with ${freeGiB} GiB free`, remedy)]
}

/** The remedy if the part answers and does not accept the credentials. */
export const REFUSED = 'Correct the setting that the message names; docs/tls.md explains each message'

/** The findings, in which a full disk is named as the likely cause of a part that does not answer: Kafka and MongoDB often share a disk. */
export function nameFullDisk(findings: readonly Finding[]): readonly Finding[] {
  const disk = findings.find(({ code }) => code === 'disk_full')
  const isDown = ({ code, remedy }: Finding) => (code === 'kafka_down' || code === 'mongo_down') && remedy !== REFUSED
  if (disk === undefined || !findings.some(isDown)) return findings
  const cause = `${disk.what.replace(/,.*/, '')}, which is the likely cause: free space on it first`
  return findings.map(found => {
    if (found === disk) return { ...disk, severity: 'error' }
    return isDown(found) ? { ...found, remedy: `${cause}. ${found.remedy}` } : found
  })
}
