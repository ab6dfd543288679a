/** Chooses the ports of a product, and stores them in its data folder. */
import { readFileSync, writeFileSync } from 'node:fs'
import { choosePorts } from '@backstop/stack'
import type { ServiceName } from './service-environment.ts'

export type ProductPort = 'ingress' | 'admin-api' | `${ServiceName}-ops`

/** The default ports of `npm start`. */
export const USUAL_PORTS: Record<ProductPort, number> = {
  ingress: 8080,
  'ingress-ops': 8081,
  'reconciler-ops': 8082,
  'notifier-ops': 8083,
  'admin-api-ops': 8084,
  'admin-api': 8090,
}

export interface ChosenPorts {
  ports: Record<ProductPort, number>
  /** The preferred ports that another process uses. */
  inUse: Partial<Record<ProductPort, number>>
}

/**
 * Chooses the ports of the last start if they are free, because providers, tunnels and scripts may use them. Otherwise it chooses
 * the preferred ports, or any free ports.
 * @param path the file with the ports of the last start
 */
export async function chooseProductPorts(
  path: string,
  preferred: Partial<Record<ProductPort, number>>,
): Promise<ChosenPorts> {
  const wanted = { ...preferred, ...readPorts(path) }
  const names = Object.keys(USUAL_PORTS) as ProductPort[]
  const wishes = Object.fromEntries(names.map(name => [name, { remembered: wanted[name] }]))
  const ports = await choosePorts(wishes as Record<ProductPort, { remembered: number | undefined }>)
  writeFileSync(path, `${JSON.stringify(ports, undefined, 2)}\n`)
  const inUse = Object.fromEntries(
    names.filter(name => wanted[name] !== undefined && wanted[name] !== ports[name]).map(name => [name, wanted[name]]),
  )
  return { ports, inUse }
}

function readPorts(path: string): Partial<Record<ProductPort, number>> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<ProductPort, number>>
  } catch {
    return {}
  }
}
