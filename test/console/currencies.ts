/** The currencies of ISO 4217 (list one, without codes for metals, funds and tests), with the digits that the providers' amounts have. */
const CODES =
  'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf clp cny cop crc cup ' +
  'cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr iqd irr isk jmd jod jpy ' +
  'kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok ' +
  'npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt ' +
  'tnd top try ttd twd tzs uah ugx usd uyu uzs ves vnd vuv wst xaf xcd xof xpf yer zar zmw'

const WHOLE = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '))
const THOUSANDTHS = new Set('bhd jod kwd omr tnd'.split(' '))

/** 1,234,567 minor units of each currency, as the console shows them. */
export const AMOUNTS = CODES.split(' ').map(currency => ({
  currency,
  minorUnits: 1_234_567,
  text: `${currency.toUpperCase()} ${WHOLE.has(currency) ? '1,234,567' : THOUSANDTHS.has(currency) ? '1,234.567' : '12,345.67'}`,
}))
