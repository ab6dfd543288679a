/** What `npm start` prints once all is up: where things are, and one working command for each step. */
import type { DemoWorld } from './demo/demo-world.ts'
import type { Product } from './product.ts'

/** The addresses and the key. */
export function addressLines(product: Product): string[] {
  const { urls, key } = product
  return [
    `  Management API  ${urls.admin}   (OpenAPI: ${urls.admin}/v1/openapi.json)`,
    `  Inbound         ${urls.ingress}/v1/webhooks/{processor,reseller,subscription}/{connection_id}`,
    ...(urls.mail === '' ? [] : [`  Mail catcher    ${urls.mail}`]),
    `  API key         ${key}`,
    '  The same is in .backstop/run.json for scripts; logs are in .backstop/logs/',
    '  Local only: channels may deliver to loopback addresses here (EGRESS_ALLOW_CIDRS=127.0.0.0/8,::1/128)',
  ]
}

/** Commands that work as they are, for the demo's project. */
export function commandLines(product: Pick<Product, 'key' | 'urls'>, world: DemoWorld): string[] {
  const { record } = world
  const api = `curl -s -H 'authorization: Bearer ${product.key}' -H 'content-type: application/json' ${product.urls.admin}`
  const { charge, paymentIntent } = world.processor.createPayment({
    amount: 20_000,
    currency: 'eur',
    description: 'Order 1003',
  })
  const connection = `/v1/projects/${record.project_id}/connections/${record.connection_id}`
  return [
    '# Refund as somebody with a leaked key would; the card processor then posts its signed events:',
    `curl -s -u ${record.processor_key}: ${world.processorUrl}/v1/refunds -d charge=${charge.id} -d amount=500`,
    '',
    '# Post a signed event by hand:',
    ...signedEvent(world.inboundUrl, record.signing_secret, charge.id, paymentIntent.id),
    '',
    '# Report an operation, so that a refund of 7.00 EUR on that payment in the next minutes is explained:',
    `${api}/v1/operations -d '${JSON.stringify({ connection_id: record.connection_id, kind: 'refund', subject: paymentIntent.id, amount: 700, currency: 'eur', state: 'executing' })}'`,
    '',
    '# Never alert on this account any more (auto, alert or ignore):',
    `${api}${connection} -X PATCH -d '{"out_of_band":"ignore"}'`,
    '',
    '# Send the alerts by mail as well:',
    `${api}/v1/alert-channels -d '${JSON.stringify({ project_id: record.project_id, name: 'Mail', events: ['incident.opened'], config: { kind: 'email', to: ['you@example.com'] } })}'`,
    '',
    '# Read incidents, and what became of each refund:',
    `${api}'/v1/incidents?project_id=${record.project_id}'`,
    `${api}'/v1/actions?connection_id=${record.connection_id}'`,
  ]
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
    `curl -s -i ${inboundUrl} -H "processor-signature: t=$T,v1=$S" -d "$B"`,
  ]
}
