import { hash, randomFillSync } from 'node:crypto'

/** The prefix of each kind of id. An id is `<prefix>_<26 base32 characters>` (128 bits). */
export const ID_PREFIXES = {
  project: 'prj',
  connection: 'con',
  channel: 'chn',
  operation: 'op',
  budget: 'bud',
  run: 'run',
  case: 'case',
  action: 'act',
  incident: 'inc',
  storm: 'stm',
  incidentBulk: 'blk',
  alert: 'alr',
  delivery: 'dlv',
  message: 'msg',
  leaseHolder: 'hld',
  writeToken: 'wrt',
  apiKey: 'key',
  person: 'per',
  session: 'ses',
  audit: 'aud',
  request: 'req',
  replay: 'rpl',
  erasure: 'era',
  archive: 'arc',
  command: 'cmd',
  reread: 'rrd',
  readback: 'rbk',
  expectedChange: 'exp',
  actor: 'acr',
  actorSecret: 'acs',
  silence: 'sil',
  deadLetter: 'dlt',
} as const

/** A kind of id. */
export type IdKind = keyof typeof ID_PREFIXES

/** Crockford's base32 in lower case: no letters that are easily confused, safe in URLs and file names. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * @param bytes one byte per character ('latin1'). node:crypto returns such a text in half the time of a Buffer, which has memory outside
 * of the heap.
 */
function base32(bytes: string): string {
  let text = ''
  let bits = 0
  let buffer = 0
  for (let at = 0; at < bytes.length; at += 1) {
    buffer = (buffer << 8) | bytes.charCodeAt(at)
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(buffer >>> bits) & 31]
    }
    buffer &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(buffer << (5 - bits)) & 31] : text
}

const ID_BYTES = 16
/** Random bytes for the next ids, because one call for all of them costs little more than a call for one id. */
const RANDOM_POOL = Buffer.alloc(256 * ID_BYTES)
let nextRandomAt = RANDOM_POOL.length

/** Makes an id from 128 random bits. It cannot be guessed, which protects the URLs for notifications. */
export function newId(kind: IdKind): string {
  return `${ID_PREFIXES[kind]}_${base32(randomText(ID_BYTES))}`
}

const TIME_BYTES = 6
const timeBytes = Buffer.alloc(TIME_BYTES)

/**
 * Makes an id that begins with a time and ends with 80 random bits, like a UUID of version 7. Use it for collections with millions of
 * documents: MongoDB appends these ids to its indexes, which takes half the time of inserting random ids. Ids of the same
 * millisecond are in random order.
 * @param atMs milliseconds since the epoch
 */
export function newOrderedId(kind: 'case' | 'operation' | 'audit', atMs: number): string {
  return `${ID_PREFIXES[kind]}_${base32(timeText(atMs) + randomText(ID_BYTES - TIME_BYTES))}`
}

/**
 * Derives an id that begins with a time, as `newOrderedId`, and ends with 80 bits of a hash of the parts.
 * @param atMs milliseconds since the epoch: a time of the object itself, so that repeated work gets the same id
 * @param parts as those of `deterministicId`
 */
export function deterministicOrderedId(
  kind: 'action' | 'operation',
  atMs: number,
  ...parts: readonly string[]
): string {
  return `${ID_PREFIXES[kind]}_${base32(timeText(atMs) + digestOf(parts).slice(0, ID_BYTES - TIME_BYTES))}`
}

/** A provider may name any time: those that have no room in the bytes become the nearest one. */
function timeText(atMs: number): string {
  timeBytes.writeUIntBE(Math.min(Math.max(Math.floor(atMs), 0), 256 ** TIME_BYTES - 1), 0, TIME_BYTES)
  return timeBytes.toString('latin1')
}

/** @param length number of bytes, at most 16; the text has one character for each */
function randomText(length: number): string {
  if (nextRandomAt === RANDOM_POOL.length) {
    randomFillSync(RANDOM_POOL)
    nextRandomAt = 0
  }
  const at = nextRandomAt
  nextRandomAt += ID_BYTES
  return RANDOM_POOL.toString('latin1', at, at + length)
}

/**
 * The id of an alert about an incident. It is derived, so every service computes the same id.
 * @param reopened how often the incident was opened again: each time it gets new alerts
 */
export function incidentAlertId(incidentId: string, event: IncidentEvent, reopened = 0): string {
  return deterministicId('alert', incidentId, event, ...(reopened === 0 ? [] : [String(reopened)]))
}

/** The alerts about one incident. */
export type IncidentEvent = 'incident.opened' | 'incident.acknowledged' | 'incident.resolved'

/** The id of a report about a storm. It is derived, so a report that is repeated after a crash is delivered once. */
export function stormAlertId(stormId: string, report: number): string {
  return deterministicId('alert', stormId, 'storm.reported', String(report))
}

/** The id of the delivery of one alert to one channel. It is derived, so an alert that is processed twice is delivered once. */
export function deliveryIdOf(alertId: string, channelId: string): string {
  return deterministicId('delivery', alertId, channelId)
}

/**
 * Derives an id from the parts, so that work repeated after a crash gets the same id.
 * @param parts joined with a newline, so no part may contain a newline
 */
export function deterministicId(kind: IdKind, ...parts: readonly string[]): string {
  return `${ID_PREFIXES[kind]}_${base32(digestOf(parts).slice(0, ID_BYTES))}`
}

function digestOf(parts: readonly string[]): string {
  return hash('sha256', parts.join('\n'), 'latin1')
}
