#if !canImport(Network)
    import Testing

    @testable import Martlet

    @Suite("The kernel's default routes", .timeLimit(.minutes(10))) struct DefaultRoutesTests {
        private static let heading =
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        private static let nowhere = String(repeating: "0", count: 32)

        @Test(
            "an IPv4 table has one if a route in use leads everywhere",
            arguments: [
                ("eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", true),
                ("eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", false),
                // Half of all addresses, as some VPNs add it.
                ("tun0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0\n", false),
                ("eth0\t00000000\t010200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n", false),
                ("*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n", false),
                ("eth0\t00000000\t010200C0\n", false),
                ("eth0\t\t\t\t\t\t\t\t\n", false),
                ("", false),
            ])
        func ipv4(table: String, isDefault: Bool) {
            #expect(DefaultRoutes.isInIPv4Table(Self.heading + table) == isDefault)
        }

        @Test(
            "an IPv6 table has one if a route in use leads everywhere and not back to this machine",
            arguments: [
                (
                    "\(nowhere) 00 \(nowhere) 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003 eth0",
                    true
                ),
                (
                    "fe800000000000000000000000000000 40 \(nowhere) 00 \(nowhere) 00000100 00000002 00000000 00000001 eth0",
                    false
                ),
                ("\(nowhere) 00 \(nowhere) 00 \(nowhere) ffffffff 00000001 00000000 00200200 lo", false),
                ("\(nowhere) 00 \(nowhere) 00 \(nowhere) ffffffff 00000001 00000000 00000001 lo", false),
                ("\(nowhere) 00", false),
                ("", false),
            ])
        func ipv6(table: String, isDefault: Bool) {
            #expect(DefaultRoutes.isInIPv6Table(table + "\n") == isDefault)
        }
    }
#endif
