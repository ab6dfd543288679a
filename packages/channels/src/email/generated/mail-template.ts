/** Generated from template.mjml by "npm run mail-template"; a test fails if it is out of date. */
export const COMPILED_TEMPLATE = `<!doctype html>
<html lang="en" dir="auto" xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<title>{{title}}</title>
<!--[if !mso]><!-->
<meta http-equiv="X-UA-Compatible" content="IE=edge">
<!--<![endif]-->
<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style type="text/css">
#outlook a { padding:0; }
body { margin:0;padding:0;-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%; }
table, td { border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt; }
img { border:0;height:auto;line-height:100%; outline:none;text-decoration:none;-ms-interpolation-mode:bicubic; }
p { display:block;margin:13px 0; }
</style>
<!--[if mso]>
<noscript>
<xml>
<o:OfficeDocumentSettings>
<o:AllowPNG/>
<o:PixelsPerInch>96</o:PixelsPerInch>
</o:OfficeDocumentSettings>
</xml>
</noscript>
<![endif]-->
<!--[if lte mso 11]>
<style type="text/css">
.mj-outlook-group-fix { width:100% !important; }
</style>
<![endif]-->
<style type="text/css">
@media only screen and (min-width:480px) {
.mj-column-per-100 { width:100% !important; max-width: 100%; }
}
</style>
<style media="screen and (min-width:480px)">
.moz-text-html .mj-column-per-100 { width:100% !important; max-width: 100%; }
</style>
<style type="text/css">
@media only screen and (max-width:479px) {
table.mj-full-width-mobile { width: 100% !important; }
td.mj-full-width-mobile { width: auto !important; }
}
</style>
<style type="text/css">
:root { color-scheme: light dark; supported-color-schemes: light dark; }
.fact th { font-weight: 400; text-align: left; white-space: nowrap; }
.fact td, .ids div { word-break: break-word; overflow-wrap: anywhere; }
@media (max-width: 480px) {
.card > table > tbody > tr > td { padding: 24px 20px !important; }
.fact th, .fact td { display: block !important; padding: 0 !important; white-space: normal !important; }
.fact td { padding-bottom: 12px !important; }
}
@media (prefers-color-scheme: dark) {
.page, .page > div { background: #0c111d !important; background-color: #0c111d !important; }
.card, .card > table { background: #161b26 !important; background-color: #161b26 !important; }
.name div, .logo img, .quiet div, .quiet a, .fact th { color: #98a2b3 !important; }
.headline div, .headline h1, .headline h2, .fact td { color: #f5f5f6 !important; }
.text div, .step td { color: #d0d5dd !important; }
.entries a, .act { color: #84adff !important; }
}
/* Outlook's apps set these attributes instead of matching the query above. */
[data-ogsb] .page, [data-ogsb] .page > div { background-color: #0c111d !important; }
[data-ogsb] .card { background-color: #161b26 !important; }
[data-ogsc] .headline h1, [data-ogsc] .headline h2, [data-ogsc] .fact td { color: #f5f5f6 !important; }
[data-ogsc] .text div, [data-ogsc] .step td { color: #d0d5dd !important; }
[data-ogsc] .name div, [data-ogsc] .quiet div, [data-ogsc] .fact th { color: #98a2b3 !important; }
</style>
<meta name="color-scheme" content="light dark" />
<meta name="supported-color-schemes" content="light dark" />
</head>
<body  class="page" style="word-spacing:normal;background-color:#f2f4f7;">
<div style="display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;">{{summary}}</div><div aria-label="{{title}}" aria-roledescription="email" role="article" lang="en" dir="auto" style="word-spacing:normal;background-color:#f2f4f7;">
<!--[if mso | IE]><table align="center" border="0" cellpadding="0" cellspacing="0" class="" role="presentation" style="width:600px;" width="600" ><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div  style="margin:0px auto;max-width:600px;"><table align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="width:100%;"><tbody><tr><td style="direction:ltr;font-size:0px;padding:24px 12px 0;text-align:center;">
<!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="" style="vertical-align:top;width:576px;" ><![endif]-->
<div class="mj-column-per-100 mj-outlook-group-fix" style="font-size:0px;text-align:left;direction:ltr;display:inline-block;vertical-align:top;width:100%;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" width="100%"><tbody><tr><td  style="vertical-align:top;padding:0;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" style="" width="100%"><tbody><tr><td style="font-size:0px;word-break:break-word;"><div style="height:1px;line-height:1px;">&#8202;</div></td></tr></tbody></table></td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><table align="center" border="0" cellpadding="0" cellspacing="0" class="" role="presentation" style="width:600px;" width="600" ><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div  style="margin:0px auto;max-width:600px;"><table align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="width:100%;"><tbody><tr><td style="direction:ltr;font-size:0px;padding:0 12px;text-align:center;">
<!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="card-outlook" width="600px" ><table align="center" border="0" cellpadding="0" cellspacing="0" class="card-outlook" role="presentation" style="width:576px;" width="576" bgcolor="#ffffff" ><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div  class="card" style="background:#ffffff;background-color:#ffffff;margin:0px auto;max-width:576px;border-radius:8px;overflow:hidden;"><table align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="background:#ffffff;background-color:#ffffff;width:100%;border-collapse:separate;"><tbody><tr><td style="border-top:4px solid {{accent}};border-radius:8px;direction:ltr;font-size:0px;padding:28px 32px;text-align:center;">
<!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="" style="vertical-align:top;width:512px;" ><![endif]-->
<div class="mj-column-per-100 mj-outlook-group-fix" style="font-size:0px;text-align:left;direction:ltr;display:inline-block;vertical-align:top;width:100%;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" width="100%"><tbody><tr><td  style="vertical-align:top;padding:0;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" style="" width="100%"><tbody>
{{#logo}}
<tr><td align="left" class="logo" style="font-size:0px;padding:0 0 20px;word-break:break-word;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" style="border-collapse:collapse;border-spacing:0px;"><tbody><tr><td  style="width:120px;">
<img
alt="{{name}}" src="{{logo}}" style="border:0;display:block;outline:none;text-decoration:none;height:auto;width:100%;font-size:14px;" width="120" height="auto"
/>
</td></tr></tbody></table></td></tr>
{{/logo}}{{^logo}}
<tr><td align="left" class="name" style="font-size:0px;padding:0 0 16px;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:13px;font-weight:600;line-height:18px;text-align:left;color:#667085;">{{name}}</div></td></tr>
{{/logo}}
<tr><td align="left" class="headline" style="font-size:0px;padding:0 0 12px;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:20px;line-height:28px;text-align:left;color:#101828;"><h1 style="margin:0;font-size:20px;line-height:28px;font-weight:600;color:#101828">{{title}}</h1></div></td></tr><tr><td align="left" class="text" style="font-size:0px;padding:0 0 24px;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:15px;line-height:22px;text-align:left;color:#344054;">{{summary}}</div></td></tr>
{{#hasFacts}}
<tr><td align="left" style="font-size:0px;padding:0 0 24px;word-break:break-word;"><table cellpadding="0" cellspacing="0" role="table" width="100%" border="0" style="color:#000000;font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:14px;line-height:20px;table-layout:auto;width:100%;border:none;">
{{#facts}}<tr class="fact"><th scope="row" align="left" style="padding:6px 16px 6px 0;color:#667085;vertical-align:top">{{label}}</th><td style="padding:6px 0;color:#101828;vertical-align:top">{{value}}</td></tr>{{/facts}}
</table></td></tr>
{{/hasFacts}}
<tr><td align="left" class="headline text" style="font-size:0px;padding:0 0 12px;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:15px;line-height:22px;text-align:left;color:#344054;"><h2 style="margin:0;font-size:15px;line-height:22px;font-weight:600;color:#101828">{{next}}</h2></div></td></tr>
{{#hasSteps}}
<tr><td align="left" style="font-size:0px;padding:0 0 8px;word-break:break-word;"><table cellpadding="0" cellspacing="0" role="presentation" width="100%" border="0" style="color:#000000;font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:15px;line-height:22px;table-layout:auto;width:100%;border:none;">
{{#steps}}<tr class="step"><td style="padding:0 8px 8px 0;color:#344054;vertical-align:top;width:20px">{{number}}</td><td style="padding:0 0 8px;color:#344054;vertical-align:top">{{step}}</td></tr>{{/steps}}
</table></td></tr>
{{/hasSteps}}{{#hasLinks}}
<tr><td align="left" class="links" style="font-size:0px;padding:8px 0 12px;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:15px;line-height:48px;text-align:left;color:#344054;">{{#mainLink}}<a href="{{url}}" style="display:inline-block;margin:0 8px 0 0;padding:10px 18px;border:1px solid {{accent}};border-radius:6px;background:{{accent}};color:{{onAccent}};font-size:14px;line-height:20px;font-weight:600;text-decoration:none">{{text}}</a>{{/mainLink}}{{#links}}<a class="act" href="{{url}}" style="display:inline-block;margin:0 12px 0 0;font-size:14px;line-height:20px;font-weight:600;color:#344054;text-decoration:underline">{{text}}</a>{{/links}}</div></td></tr>
{{/hasLinks}}{{#hasEntries}}
<tr><td align="left" class="entries" style="font-size:0px;padding:8px 0 16px;word-break:break-word;"><table cellpadding="0" cellspacing="0" role="table" width="100%" border="0" style="color:#000000;font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:14px;line-height:20px;table-layout:auto;width:100%;border:none;">
{{#entries}}<tr class="fact"><td style="padding:5px 0;color:#101828">{{#url}}<a href="{{url}}">{{text}}</a>{{/url}}{{^url}}{{text}}{{/url}} · {{reference}}</td></tr>{{/entries}}
</table></td></tr>
{{/hasEntries}}
<tr><td align="left" class="quiet ids" style="font-size:0px;padding:8px 0 0;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:12px;line-height:18px;text-align:left;color:#667085;">Reference: {{reference}}{{#alsoSent}} · {{alsoSent}}{{/alsoSent}}</div></td></tr></tbody></table></td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table></td></tr></table><![endif]-->
</td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><table align="center" border="0" cellpadding="0" cellspacing="0" class="" role="presentation" style="width:600px;" width="600" ><tr><td style="line-height:0px;font-size:0px;mso-line-height-rule:exactly;"><![endif]-->
<div  style="margin:0px auto;max-width:600px;"><table align="center" border="0" cellpadding="0" cellspacing="0" role="presentation" style="width:100%;"><tbody><tr><td style="direction:ltr;font-size:0px;padding:16px 24px 32px;text-align:center;">
<!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="" style="vertical-align:top;width:552px;" ><![endif]-->
<div class="mj-column-per-100 mj-outlook-group-fix" style="font-size:0px;text-align:left;direction:ltr;display:inline-block;vertical-align:top;width:100%;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" width="100%"><tbody><tr><td  style="vertical-align:top;padding:0;"><table border="0" cellpadding="0" cellspacing="0" role="presentation" style="" width="100%"><tbody>
{{#footer}}
<tr><td align="center" class="quiet" style="font-size:0px;padding:0 0 2px;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:12px;line-height:18px;text-align:center;color:#667085;">{{line}}</div></td></tr>
{{/footer}}
<tr><td align="center" class="quiet" style="font-size:0px;padding:8px 0 0;word-break:break-word;"><div style="font-family:-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif;font-size:12px;line-height:18px;text-align:center;color:#667085;">{{why}}{{#unsubscribe}} <a href="{{unsubscribe}}" style="color:#667085;text-decoration:underline">Unsubscribe</a>{{/unsubscribe}}</div></td></tr></tbody></table></td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td></tr></tbody></table></div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</div>
</body>
</html>
`
