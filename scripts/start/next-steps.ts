/** The addresses and example commands that `npm start` prints when everything runs. */
import { isAbsolute, relative } from 'node:path'
import type { DemoSetup } from './demo/demo-setup.ts'
import type { Product } from './product.ts'

/** A path for people: relative if it is inside the current folder, otherwise unchanged. */
export function shownPath(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

/** The lines with the addresses of the product and the API key. */
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
 * Example commands for the demo's project that can be pasted unchanged. When a person runs all of them within the minute before
 * the second look, the last commands must not change the verdicts on the refunds of the first commands.
 */
export function commandLines(product: Pick<Product, 'key' | 'urls'>, setup: DemoSetup): string[] {
  const { record } = setup
  const { charge, paymentIntent } = setup.processor.createPayment({
    amount: 20_000,
    currency: 'eur',
    description: 'Order 1003',
  })
  const refund = (amount: number) =>
    `curl -sS -u ${record.processor_key}: ${setup.processorUrl}/v1/refunds -d charge=${charge.id} -d amount=${amount}`
  const connection = `/v1/projects/${record.project_id}/connections/${record.connection_id}`
  return [
    // Comments have no special characters of the shell, because zsh runs a pasted comment as a command.
    '# Make a refund that nothing explains, as with a leaked key',
    refund(500),
    '',
    '# Post a signed event by hand',
    ...signedEventCommands(setup.inboundUrl, record.signing_secret, charge.id, paymentIntent.id),
    '',
    '# Report an operation, and make the refund that it explains',
    apiCommand(product, '/v1/operations', {
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
    apiCommand(product, '/v1/alert-channels', {
      project_id: record.project_id,
      name: 'Mail',
      events: ['incident.opened'],
      config: { kind: 'email', to: ['you@example.com'] },
    }),
    '',
    '# List the incidents, and the verdict on each refund',
    apiCommand(product, `/v1/incidents?project_id=${record.project_id}`),
    apiCommand(product, `/v1/actions?connection_id=${record.connection_id}`),
    '',
    '# In the folder of the clone: explain the last alert, and judge the last hour again with another setting',
    `npx backstop explain "$(${commandForNewestAction(product, record.project_id)})"`,
    'npx backstop dry-run --from 1h --out-of-band ignore',
    '',
    '# Set when this account alerts: alert is always, auto once your software has acted on it, ignore is never',
    apiCommand(product, connection, { out_of_band: 'alert' }, 'PATCH'),
  ]
}

/** A command that calls the management API and formats the answer. With a body it sends a POST. */
function apiCommand(
  { urls, key }: Pick<Product, 'key' | 'urls'>,
  path: string,
  body?: object,
  method?: string,
): string {
  return [
    `curl -sS '${urls.admin}${path}' -H 'authorization: Bearer ${key}'`,
    ...(method === undefined ? [] : [`-X ${method}`]),
    ...(body === undefined ? [] : [`-H 'content-type: application/json' -d '${JSON.stringify(body)}'`]),
    '| python3 -m json.tool',
  ].join(' ')
}

/** A command that prints the id of the action of the newest incident. */
function commandForNewestAction({ urls, key }: Pick<Product, 'key' | 'urls'>, projectId: string): string {
  const path = `/v1/incidents?project_id=${projectId}&limit=1`
  return `curl -sS '${urls.admin}${path}' -H 'authorization: Bearer ${key}' | sed 's/.*"action_id":"\\([^"]*\\)".*/\\1/'`
}

/** Commands that post a refund.created signed by openssl. Its ids contain the present time, so the commands can be repeated. */
function signedEventCommands(inboundUrl: string, secret: string, chargeId: string, paymentIntentId: string): string[] {
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
  // `$T` must be a number in the JSON, and the shell must replace it, so the JSON is in double quotes.
  const body = JSON.stringify(event).replaceAll('"$T"', '$T').replaceAll('"', '\\"')
  return [
    `T=$(date +%s); B="${body}"`,
    `S=$(printf %s "$T.$B" | openssl dgst -sha256 -hmac '${secret}' | sed 's/^.* //')`,
    `curl -sS -i ${inboundUrl} -H "processor-signature: t=$T,v1=$S" -d "$B"`,
  ]
}
