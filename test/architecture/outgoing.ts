/** Code that calls URLs set by users must use the guarded client. CONNECTS_ITSELF lists the code that connects without it. */
import type { SourceFile } from './source-files.ts'

/** The files that may connect without the guarded client, with the reason. A path with a slash at the end is a folder. */
export const CONNECTS_ITSELF: Readonly<Record<string, string>> = {
  'packages/kit/src/egress/': 'it is the guarded client',
  'packages/kit/src/bus/kafkajs/client.ts': 'Kafka, at the address that the operator sets',
  'packages/kit/src/registry/registry-exchange.ts': 'the schema registry, at the URL that the operator sets',
  'packages/kit/src/http/operator-client.ts': 'URLs that only the operator sets: those of the heartbeat',
  'packages/provision/src/network-policy/check-network-policy.ts':
    'it tries what must be out of reach, at addresses that the operator sets',
  'services/admin-api/src/oidc/identity-provider.ts': 'its library sends every request through the guarded client',
  'packages/channels/src/email/smtp-mailer.ts': 'the mail server that the operator sets',
  'packages/client/': 'the management API, at the URL that the software of a customer sets',
  'packages/console/src/api/live.ts': 'a browser that calls the server of its page',
  'packages/simulator/': 'it simulates providers and receivers on loopback, and is not deployed',
}

/** Modules that open connections. */
const CLIENTS =
  /^(?:undici|axios|got|ky|needle|node-fetch|phin|request|superagent|ws|nodemailer|oauth4webapi|openid-client|stripe|chargebee|@paddle\/.*)(?:\/|$)/
/** Node's network modules. Their client functions are forbidden, functions of servers and without a connection are allowed. */
const NODE_NETWORK = /^(?:node:)?(?:https?|http2|net|tls|dgram)$/
const WITHOUT_CALLS = new Set(['createSecureContext', 'createServer', 'isIP', 'isIPv4', 'isIPv6', 'STATUS_CODES'])

const IMPORT = /^(?:import|export)\b([^'"`;]*?)\bfrom\s+'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g
const GLOBAL_CLIENT = /(?<![.\w])(?:globalThis\.)?(?:fetch\(|new (?:WebSocket|EventSource|XMLHttpRequest)\b)/

/** The modules and functions by which a file opens connections itself. */
export function ownConnections({ text }: Pick<SourceFile, 'text'>): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const called = GLOBAL_CLIENT.exec(code)
  return [
    ...[...code.matchAll(IMPORT)].flatMap(([, clause = '', module = '']) => {
      const names = valueNames(clause)
      if (CLIENTS.test(module)) return names.length > 0 ? [`imports ${module}`] : []
      if (!NODE_NETWORK.test(module)) return []
      return names.filter(name => !WITHOUT_CALLS.has(name)).map(name => `imports ${name} of ${module}`)
    }),
    ...[...code.matchAll(DYNAMIC)].flatMap(([, module = '']) =>
      CLIENTS.test(module) || NODE_NETWORK.test(module) ? [`imports ${module}`] : [],
    ),
    ...(called === null ? [] : [`calls ${called[0]}`]),
  ]
}

/** The imported names that exist at run time, without types. */
function valueNames(clause: string): string[] {
  if (/^\s*type\b/.test(clause)) return []
  const braces = /\{([^}]*)\}/.exec(clause)?.[1] ?? ''
  const whole = clause.replace(/\{[^}]*\}/, '').split(',')
  return [...whole, ...braces.split(',')]
    .map(name => name.trim())
    .filter(name => name !== '' && !name.startsWith('type '))
    .map(name => name.split(/\s+as\s+/)[0] ?? name)
}

function mayConnectItself(path: string): boolean {
  return Object.keys(CONNECTS_ITSELF).some(place => path === place || (place.endsWith('/') && path.startsWith(place)))
}

/** The stack starts programs before the product runs; scripts and tests run on a developer's machine. */
export function outgoingFaults(file: SourceFile): string[] {
  if (!file.isProduction || file.workspace === 'stack' || mayConnectItself(file.path)) return []
  return ownConnections(file).map(fault => `${file.path}: ${fault}; call out through the Egress port of @backstop/kit`)
}
