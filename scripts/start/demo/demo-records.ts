import { readFileSync, writeFileSync } from 'node:fs'

/** What the demo made at its first run and uses again: secrets are shown once only, so it must keep them. */
export interface DemoRecord {
  project_id: string
  connection_id: string
  /** Signs the processor's events. */
  signing_secret: string
  channel_id: string
  /** Shared with the receiver: signs the deliveries. */
  channel_secret: string
  receiver_port: number
  processor_port: number
  /** A key of the stand-in card processor that may refund: the leaked one of the story. */
  processor_key: string
}

/** The kept record, or undefined at the first run or when the file is unreadable: the demo can always make a new world. */
export function readDemoRecord(path: string): DemoRecord | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoRecord
  } catch {
    return undefined
  }
}

/** Readable for its owner only. */
export function writeDemoRecord(path: string, record: DemoRecord): void {
  writeFileSync(path, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
}
