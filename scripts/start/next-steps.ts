/** The addresses, and one working command for each step, which `npm start` prints once everything runs. */
import { isAbsolute, relative } from 'node:path'
import type { DemoWorld } from './demo/demo-setup.ts'
import type { Product } from './product.ts'

/** A path as a person in this folder writes it: relative to it if it lies inside. */
export function shownPath(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

/** The addresses and the key. */
export function addressLines({ urls, key }: Pick<Product, 'key' | 'urls'>, dataDir: string): string[] {
  return [
    `  Management API  ${urls.admin}`,
    `                  ${urls.admin}/v1/openapi.json describes it`,
    `  API key         ${key}`,
    `  Inbound         ${urls.ingress}/v1/webhooks/{kind}/{connection_id}`,
    ...(urls.mail === '' ? [] : [`  Mail catcher    ${urls.mail}`]),
    `  For scripts     ${shownPath(dataDir)}/run.json`,
    `  Logs            ${shownPath(dataDir)}/logs/`,
    '  Local only      channels may deliver to this machine (EGRESS_ALLOW_CIDRS)',
  ]
}

/**
 * Commands for the demo's project that work as they are. Run from top to bottom within the minute before the second look, they
 * must not change what their own refunds lead to.
 */
export function commandLines(product: Pick<Product, 'key' | 'urls'>, world: DemoWorld): string[] {
  const { record } = world
  const { charge, paymentIntent } = world.processor.createPayment({
    amount: 20_000,
    currency: 'eur',
    description: 'Order 1003',
  })
  const refund = (amount: number) =>
    `curl -sS -u ${record.processor_key}: ${world.processorUrl}/v1/refunds -d charge=${charge.id} -d amount=${amount}`
  const connection = `/v1/projects/${record.project_id}/connections/${record.connection_id}`
  return [
    // No special characters of a shell: zsh runs a pasted comment as a command, which it does not find.
    '# Make a refund that nothing explains, as with a leaked key',
    refund(500),
    '',
    '# Post a signed event by hand',
    ...signedEvent(world.inboundUrl, record.signing_secret, charge.id, paymentIntent.id),
    '',
    '# Report an operation, and make the refund that it explains',
    apiCall(product, '/v1/operations', {
      connection_id: record.connection_id,
      kind: 'refund',
      subject: paymentIntent.id,
      amount: 700,
      currency: 'eur',
      state: 'executing',
    }),
    refund(700),
    '',
    `# Send the alerts by mail as well. They show on ${product.urls.mail || 'your mail server'}`,
    apiCall(product, '/v1/alert-channels', {
      project_id: record.project_id,
      name: 'Mail',
      events: ['incident.opened'],
      config: { kind: 'email', to: ['you@example.com'] },
    }),
    '',
    '# List the incidents, and the verdict on each refund',
    apiCall(product, `/v1/incidents?project_id=${record.project_id}`),
    apiCall(product, `/v1/actions?connection_id=${record.connection_id}`),
    '',
    '# In the folder of the clone: explain the last alert, and judge the last hour again with another setting',
    `npx backstop explain "$(${lastAlertedAction(product, record.project_id)})"`,
    'npx backstop dry-run --from 1h --out-of-band ignore',
    '',
    '# Set when this account alerts: alert is always, auto once your software has acted on it, ignore is never',
    apiCall(product, connection, { out_of_band: 'alert' }, 'PATCH'),
  ]
}

/** A call of the management API with its answer in a readable form. A body makes it a POST. */
function apiCall({ urls, key }: Pick<Product, 'key' | 'urls'>, path: string, body?: object, method?: string): string {
  return [
    `curl -sS '${urls.admin}${path}' -H 'authorization: Bearer ${key}'`,
    ...(method === undefined ? [] : [`-X ${method}`]),
    ...(body === undefined ? [] : [`-H 'content-type: application/json' -d '${JSON.stringify(body)}'`]),
    '| python3 -m json.tool',
  ].join(' ')
}

/** The action of the newest incident. */
function lastAlertedAction({ urls, key }: Pick<Product, 'key' | 'urls'>, projectId: string): string {
  const path = `/v1/incidents?project_id=${projectId}&limit=1`
  return `curl -sS '${urls.admin}${path}' -H 'authorization: Bearer ${key}' | sed 's/.*"action_id":"\\([^"]*\\)".*/\\1/'`
}

/** A refund.created signed by openssl: the time of the call makes its ids, so that the line works again and again. */
function signedEvent(inboundUrl: string, secret: string, chargeId: string, paymentIntentId: string): string[] {
  const event = {
    id: 'evt_byhand_$T',
    object: 'event',
    type: 'refund.created',
    created: '$T',
    data: {
      object: {
        id: 're_byhand_$T',
        object: 'refund',
        amount: 300,
        currency: 'eur',
        charge: chargeId,
        payment_intent: paymentIntentId,
        created: '$T',
        status: 'succeeded',
      },
    },
  }
  // Numbers stand without quotes, and the shell is to put the time in: hence double quotes around the whole.
  const body = JSON.stringify(event).replaceAll('"$T"', '$T').replaceAll('"', '\\"')
  return [
    `T=$(date +%s); B="${body}"`,
    `S=$(printf %s "$T.$B" | openssl dgst -sha256 -hmac '${secret}' | sed 's/^.* //')`,
    `curl -sS -i ${inboundUrl} -H "processor-signature: t=$T,v1=$S" -d "$B"`,
  ]
}
