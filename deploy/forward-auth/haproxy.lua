-- Asks Latchkey's check about each request (HAProxy's Lua API, since 2.5).

local CHECK = "http://127.0.0.1:8000/auth/check?required=1"
local NAMES = {
    "x-auth-kind", "x-auth-id", "x-auth-app", "x-auth-email", "x-auth-staff",
    "x-auth-permissions", "x-auth-session", "x-auth-expires",
}

local function refuse(txn, status, headers)
    local reply = txn:reply()
    reply:set_status(status)
    for _, name in ipairs({ "www-authenticate", "retry-after" }) do
        if headers and headers[name] then
            reply:add_header(name, headers[name][0])
        end
    end
    reply:add_header("cache-control", "no-store")
    txn:done(reply)
end

core.register_action("latchkey", { "http-req" }, function(txn)
    local received = txn.http:req_get_headers()
    local sent = { ["x-forwarded-for"] = { txn.f:src() }, ["x-forwarded-method"] = { txn.f:method() } }
    for _, name in ipairs({ "host", "authorization", "authorization-bearer", "user-agent" }) do
        local values = received[name]
        if values then
            sent[name] = {}
            for place = 0, #values do
                table.insert(sent[name], values[place])
            end
        end
    end
    local client = core.httpclient()
    local response = client:get({ url = CHECK, headers = sent, timeout = 5000 })
    -- Without an answer the status is 0: nothing passes.
    if response.status ~= 200 then
        local status = response.status
        refuse(txn, status >= 400 and status or 503, response.headers)
        return
    end
    for _, name in ipairs(NAMES) do
        local values = response.headers[name]
        txn.http:req_set_header(name, values and values[0] or "")
    end
end)
